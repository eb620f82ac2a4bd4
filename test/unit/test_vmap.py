"""relay-vmap on every op, on its own samples: what an op gives with an axis in front is what it gives at each place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from lamina.dialects.dtypes import is_float, tensor_type
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.meaning import draw, np_results
from lamina.dialects.relay.op_index import OPS
from lamina.dialects.relay.params import ParamStore
from lamina.errors import UnsupportedError
from lamina.interpreters.relay_reference import run_relay
from lamina.ir.verification import verify_module
from lamina.passes.relay.functional.vmap import add_axis

SIZE = 3
VALUE_DEPENDENT = ("relay.adv_index", "relay.argwhere", "relay.unique", "relay.unique_slices", "relay.shape_of")
"""Ops whose results have other shapes at each place, or none that depends on values."""


def _samples(op_type: Any) -> list[Any]:
    return [s for s in op_type.samples() if s.error is None and s.operands]


def _names() -> list[str]:
    found: list[str] = []
    for name in OPS:
        op_type: Any = find_op(name)
        if issubclass(op_type, RelayOp) and hasattr(op_type, "np_ref") and hasattr(op_type, "samples"):
            if name not in VALUE_DEPENDENT and _samples(op_type):
                found.append(name)
    return found


def _batched(op_type: Any, s: Any, has: list[bool]) -> func.FuncOp:
    """A function of one op with an axis in front of some of its arguments."""
    block = Block(arg_types=[tensor_type(tuple(o.shape), o.dtype) for o in s.operands])
    op = op_type.make(*block.args, **s.attrs)
    block.add_ops([op, func.ReturnOp(*op.results)])
    function = func.FuncOp("main", ([a.type for a in block.args], list(op.result_types)), Region(block))
    module = ModuleOp([function])
    add_axis(function, SIZE, has)
    verify_module(module)
    return function


def _close(actual: Any, expected: Any) -> None:
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    if not is_float(expected.dtype.name):
        np.testing.assert_array_equal(actual, expected)
        return
    rtol = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-4}.get(expected.dtype.name, 1e-8)
    wide = expected.astype(np.float64)
    scale = np.max(np.abs(wide[np.isfinite(wide)]), initial=0.0)
    np.testing.assert_allclose(actual.astype(np.float64), wide, rtol=rtol, atol=rtol * scale)


@pytest.mark.slow
@pytest.mark.parametrize("name", _names())
def test_op_with_an_axis_is_the_op_at_each_place(name: str) -> None:
    op_type: Any = find_op(name)
    for n, s in enumerate(_samples(op_type)[:3]):
        random = np.random.default_rng([n, *name.encode()])
        ranges = s.ranges or (None,) * len(s.operands)
        drawn = [[draw(o, r, True, random) for o, r in zip(s.operands, ranges, strict=True)] for _ in range(SIZE)]
        count = len(s.operands)
        for has in ([True] * count, [not k for k in range(count)], [k == count - 1 for k in range(count)]):
            places = [[a if grown else b for a, b, grown in zip(d, drawn[0], has, strict=True)] for d in drawn]
            expected = [np_results(op_type, p, s.attrs) for p in places]
            if len({tuple(r.shape for r in e) for e in expected}) > 1:
                continue  # a value decides the shape
            arrays = [np.stack([p[k] for p in places]) if grown else drawn[0][k] for k, grown in enumerate(has)]
            function = _batched(op_type, s, has)
            got = run_relay(function, arrays, ParamStore())
            for k, actual in enumerate(got):
                _close(np.asarray(actual), np.stack([e[k] for e in expected]))


def test_what_has_no_rule_is_refused_where_the_axis_is_long() -> None:
    op_type: Any = find_op("relay.nn.sparse_dense")
    s = _samples(op_type)[0]
    block = Block(arg_types=[tensor_type(tuple(o.shape), o.dtype) for o in s.operands])
    op = op_type.make(*block.args, **s.attrs)
    block.add_ops([op, func.ReturnOp(*op.results)])
    function = func.FuncOp("main", ([a.type for a in block.args], list(op.result_types)), Region(block))
    with pytest.raises(UnsupportedError, match=r"relay\.nn\.sparse_dense has no rule for an axis in front"):
        add_axis(function, 65, [True] * len(s.operands))
