"""Softmax and layer norm as machine code give NumPy's numbers: rows with tails, of several ranks, and short ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina

Shape = tuple[int, ...]


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    normed = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return normed * (vector(x.shape[-1]) + 1) - vector(x.shape[-1])


def vector(width: int) -> Any:
    return (np.arange(width) / 7).astype(np.float32)


def model(kind: str, shape: Shape) -> Any:
    n = vector(shape[-1])
    names = ["x"] if kind == "Softmax" else ["x", "scale", "shift"]
    weights = (
        [] if kind == "Softmax" else [numpy_helper.from_array(n + 1, "scale"), numpy_helper.from_array(-n, "shift")]
    )
    node = helper.make_node(kind, names, ["y"], axis=-1)
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


SHAPES: list[Shape] = [(2, 3, 128), (11, 9, 49), (5, 197), (1, 4, 9, 77), (3, 16), (7, 768), (3, 5)]
USUAL = {(5, 197), (7, 768), (11, 9, 49)}


@pytest.mark.parametrize("kind", ["Softmax", "LayerNormalization"])
@pytest.mark.parametrize(
    ("shape", "threads"),
    [
        pytest.param(shape, threads, marks=[] if shape in USUAL and threads == 1 else pytest.mark.long)
        for shape in SHAPES
        for threads in (1, 2)
    ],
)
def test_kernel_gives_the_rows(kind: str, shape: Shape, threads: int) -> None:
    x = np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32) * 4 + 1
    (found,) = lamina.compile(model(kind, shape), threads=threads).run({"x": x}).values()
    expected = (softmax if kind == "Softmax" else layer_norm)(x.astype(np.float64))
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-6 * np.abs(expected).max())


def test_softmax_of_rows_without_numbers() -> None:
    x = np.zeros((3, 40), np.float32)
    x[0, 7], x[1, 9] = np.nan, -np.inf
    (found,) = lamina.compile(model("Softmax", (3, 40)), threads=1).run({"x": x}).values()
    assert np.isnan(found[0]).all()
    assert found[1, 9] == 0
    assert np.isfinite(found[1:]).all()
