"""Quantised recurrent layers give LiteRT's integers over many frames, to the bit."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import interpreter, run  # noqa: E402
from quantized_cases import bias, integers, q, weight  # noqa: E402
from tflite_build import T, one  # noqa: E402

import lamina  # noqa: E402


@pytest.mark.parametrize(("batch", "inputs", "filters", "memory", "rank"), [(1, 7, 8, 5, 2), (3, 16, 12, 1, 1)])
@pytest.mark.parametrize("units", [(0.02, 0.008, 0.0004, 0.00005, 0.03), (0.05, 0.01, 0.0001, 0.00002, 0.01)])
def test_svdf(batch: int, inputs: int, filters: int, memory: int, rank: int, units: Any) -> None:
    data, features, state, time, out = units
    x, y = q((batch, inputs), data, -5), q((batch, filters // rank), out, 9)
    kept = T((batch, filters * memory), "int16", scale=state, is_variable=True)
    times = T.of(integers((filters, memory), "int16", 3, -32767), scale=time)
    operands = [x, weight((filters, inputs), features), times, bias(filters // rank, state * time, size=99999), kept]
    model = one("SVDF", operands, [y], rank=rank, fused_activation_function="RELU")
    it, session = interpreter(model), lamina.compile(model, cache=False).session()
    seen: set[int] = set()
    for k in range(30):
        frame = integers(x.shape, seed=k)
        (wanted,), (found,) = run(it, [frame]), session.run({session.inputs[0].name: frame}).values()
        np.testing.assert_array_equal(found, wanted)
        seen |= set(wanted.reshape(-1).tolist())
    assert len(seen) > 20
