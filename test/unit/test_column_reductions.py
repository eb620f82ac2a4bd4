"""Reductions of columns and of images, compiled: any number of columns, rows and pixels gives what NumPy says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina

pytestmark = pytest.mark.slow

REFERENCES = {"ReduceMean": np.mean, "ReduceMax": np.max}
SHAPES: dict[tuple[int, ...], list[list[int]]] = {
    (40, 1): [[0]],
    (37, 5): [[0]],
    (37, 16): [[0]],
    (64, 53): [[0]],
    (9, 300): [[0]],
    (2, 5, 300): [[1]],
    (3, 41, 8): [[1]],
    (2, 6, 7, 7): [[2, 3], [1], [0, 2, 3]],
    (2, 3, 9, 33): [[2, 3], [1, 2]],
    (4, 3, 37, 40): [[0, 2, 3], [0, 3], [0, 1, 3]],
    (5, 7, 9, 11, 6): [[0, 1, 3], [0, 2], [1, 2, 3]],
    (3, 70, 70, 2): [[1, 2], [0, 1, 2]],
}


def model_of(nodes: list[Any], inputs: dict[str, Any], results: Iterable[str]) -> Any:
    """A model of float32 inputs and results."""
    graph = helper.make_graph(
        nodes,
        "columns",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in results],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("threads", [1, 2])
def test_columns_and_images_are_reduced(threads: int) -> None:
    """All in one model, one of them with NaN in its last element."""
    random = np.random.default_rng(5)
    inputs: dict[str, Any] = {}
    nodes: list[Any] = []
    expected: dict[str, Any] = {}
    for n, (shape, reduced) in enumerate(SHAPES.items()):
        x = inputs[f"x{n}"] = random.uniform(-1, 1, shape).astype("float32")
        if shape == (64, 53):
            x[-1, -1] = np.nan
        for axes in reduced:
            for op, reference in REFERENCES.items():
                name = f"{op}_{n}_{axes}"
                nodes.append(helper.make_node(op, [f"x{n}"], [name], keepdims=0, axes=axes))
                expected[name] = reference(x.astype("float64"), axis=tuple(axes))
    found = lamina.compile(model_of(nodes, inputs, expected), threads=threads, cache=False).run(inputs)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=3e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3", "x86-64-v2"])
def test_sums_of_many_terms_are_sums_of_sums(target: str) -> None:
    """A chain of 20000 additions of positive numbers is off by 5e-6: of columns with rows that fill blocks and that do
    not, of few columns, of rows in pieces, of what lies nowhere side by side."""
    random = np.random.default_rng(7)
    shapes = {
        (20000, 64): [0],
        (20011, 300): [0],
        (2, 16384, 33): [1],
        (160, 130, 64): [0, 1],
        (50, 20, 9, 40, 33): [0, 1, 3],
        (300, 300, 8): [0, 1],
        (50, 20, 9, 40, 6): [0, 1, 3],
        (56, 2, 160, 16): [0, 2, 3],
        (9, 3, 64, 53): [0, 2, 3],
        (300, 200, 3): [0, 1],
        (90001, 2): [0],
        (9000, 3, 5, 2): [0, 2, 3],
    }
    nodes: list[Any] = []
    inputs: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    for n, (shape, axes) in enumerate(shapes.items()):
        x = inputs[f"x{n}"] = random.uniform(0.5, 1.5, shape).astype("float32")
        nodes.append(helper.make_node("ReduceMean", [f"x{n}"], [f"y{n}"], keepdims=0, axes=axes))
        expected[f"y{n}"] = x.astype("float64").mean(tuple(axes))
    found = lamina.compile(model_of(nodes, inputs, expected), threads=1, cache=False, target=target).run(inputs)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1.5e-6, err_msg=name)


@pytest.mark.parametrize("shape", [(2, 5, 7, 9), (1, 9, 16, 16), (3, 1, 40)])
def test_instances_are_normed(shape: tuple[int, ...]) -> None:
    """Rows of several dimensions, with tails and without."""
    x = np.random.default_rng(6).standard_normal(shape).astype("float32") * 3 + 1
    scale = np.arange(shape[1], dtype="float32") + 1
    node = helper.make_node("InstanceNormalization", ["x", "s", "s"], ["y"])
    graph = helper.make_graph(
        [node],
        "norm",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [helper.make_tensor("s", TensorProto.FLOAT, scale.shape, scale)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (found,) = lamina.compile(model, threads=1, cache=False).run({"x": x}).values()
    axes = tuple(range(2, len(shape)))
    wide = x.astype("float64")
    centred = wide - wide.mean(axes, keepdims=True)
    own = scale.reshape(-1, *[1] * len(axes))
    expected = centred / np.sqrt((centred**2).mean(axes, keepdims=True) + 1e-5) * own + own
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
