"""Pools of ONNX whose windows reach beyond the data: what is there counts, and costs no more than it does."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina

Array = np.ndarray[Any, Any]


def pooled(x: Array, kind: str, outputs: list[int], attrs: dict[str, Any]) -> Array:
    """The pool, window by window."""
    rank = x.ndim - 2
    kernel, strides = attrs["kernel_shape"], attrs["strides"]
    pads = attrs.get("pads", [0] * 2 * rank)
    found = np.zeros((*x.shape[:2], *outputs))
    for at in product(*map(range, outputs)):
        cut: list[slice] = []
        counted = 1
        for a, o in enumerate(at):
            first = o * strides[a] - pads[a]
            last, end = first + kernel[a], x.shape[2 + a]
            cut.append(slice(max(first, 0), min(last, end)))
            counted *= min(last, end + pads[rank + a]) - first
        part = x[(slice(None), slice(None), *cut)].reshape(*x.shape[:2], -1).astype(np.float64)
        if kind == "MaxPool":
            value = part.max(-1)
        elif kind == "LpPool":
            value = np.sqrt((part**2).sum(-1))
        else:
            value = part.sum(-1) / (counted if attrs.get("count_include_pad") else part.shape[-1])
        found[(slice(None), slice(None), *at)] = value
    return found


CASES: list[tuple[str, list[int], list[int], dict[str, Any]]] = [
    # kind, the image, how many windows there are, the windows
    ("AveragePool", [4, 4], [1, 1], {"kernel_shape": [1280, 1280], "strides": [1280, 1280]}),
    ("AveragePool", [7], [2], {"kernel_shape": [9], "strides": [5], "pads": [3, 1]}),
    ("AveragePool", [7], [2], {"kernel_shape": [9], "strides": [5], "pads": [3, 1], "count_include_pad": 1}),
    ("AveragePool", [3, 5, 2], [1, 2, 1], {"kernel_shape": [4, 3, 8], "strides": [2, 3, 8]}),
    ("MaxPool", [4, 5], [1, 2], {"kernel_shape": [1280, 3], "strides": [1280, 3]}),
    ("MaxPool", [6], [1], {"kernel_shape": [64], "strides": [64], "pads": [1, 2]}),
    ("LpPool", [4, 5], [1, 2], {"kernel_shape": [300, 3], "strides": [300, 3]}),
]


@pytest.mark.parametrize(("kind", "spatial", "outputs", "attrs"), CASES)
def test_windows_larger_than_the_data(kind: str, spatial: list[int], outputs: list[int], attrs: dict[str, Any]) -> None:
    x = np.random.default_rng(len(spatial)).standard_normal((2, 3, *spatial)).astype(np.float32)
    names = ["y", "indices"] if kind == "MaxPool" else ["y"]
    node = helper.make_node(kind, ["x"], names, ceil_mode=1, **attrs)
    types = [TensorProto.FLOAT, TensorProto.INT64]
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    results = [helper.make_tensor_value_info(n, t, None) for n, t in zip(names, types, strict=False)]
    graph = helper.make_graph([node], "g", ports, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    exe = lamina.compile(model, threads=1, cache=False)
    found = exe.run({"x": x})
    expected = pooled(x, kind, outputs, attrs)
    np.testing.assert_allclose(found["y"], expected, rtol=1e-5, atol=1e-6)
    if kind == "MaxPool":
        np.testing.assert_array_equal(x.reshape(-1)[found["indices"]], found["y"])


def test_a_window_that_begins_in_the_last_padding_is_none() -> None:
    """The kernel is larger than the data and its stride smaller: no window begins in the data and ends behind it."""
    node = helper.make_node("AveragePool", ["x"], ["y"], ceil_mode=1, kernel_shape=[9], strides=[2])
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [1, 1, 7]), ("y", None))]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    with pytest.raises(lamina.LaminaError, match="kernel of 9 does not fit into the padded input of 7"):
        lamina.compile(model, cache=False)
