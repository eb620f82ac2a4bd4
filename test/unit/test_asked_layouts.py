"""relay-convert-layout asks each op that has layouts into others: what it computes stays, on the op's samples."""

from __future__ import annotations

import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.op_index import OPS
from lamina.driver.execute import run_module
from lamina.ir.context import LaminaContext
from lamina.ir.verification import verify_module
from lamina.passes.relay.layout.convert_layout import ConvertLayout

sys.path.insert(0, str(Path(__file__).parent))
from test_facets import arrays_of, load, valid_samples  # noqa: E402
from test_ops_five_ways import module_of  # noqa: E402

ASKED = [n for n in OPS if (op := find_op(n)) is not None and issubclass(op, RelayOp) and op.LAYOUTS]


def test_ops_that_are_asked_are_windows_and_images() -> None:
    assert len(ASKED) >= 34
    for name in ("nn.max_pool2d", "nn.avg_pool3d", "nn.global_avg_pool2d", "nn.adaptive_max_pool1d", "nn.conv2d"):
        assert f"relay.{name}" in ASKED


@pytest.mark.parametrize("name", ASKED)
def test_an_op_in_another_layout_computes_the_same(name: str) -> None:
    op_type = load(name)
    changed = 0
    for n, s in [(n, s) for n, s in valid_samples(op_type) if n in (0, 2, 3, 5)]:
        module = module_of(op_type, s)
        op = next(o for o in module.walk() if isinstance(o, RelayOp))
        layout = attrs_of(op)[op.LAYOUTS[0]]
        if not layout.isupper():
            continue  # in blocks
        orders = ["".join(p) for p in permutations(layout)]
        arrays = arrays_of(name, n, s)
        expected = run_module(module.clone(), LaminaContext(), "main", arrays)
        # One that every op knows, and two of the rest.
        last = layout[0] + "".join(a for a in layout if a not in "NC") + "C"
        for wanted in ("default", last, orders[len(orders) // 3], orders[-1]):
            converted = module.clone()
            ConvertLayout((f"{name.removeprefix('relay.')}:{wanted}",)).apply(LaminaContext(), converted)
            verify_module(converted)
            changed += any(o.name == "relay.layout_transform" for o in converted.walk())
            found = run_module(converted, LaminaContext(), "main", arrays)
            for a, b in zip(expected.values(), found.values(), strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6, err_msg=f"{layout} -> {wanted}")
    assert changed
