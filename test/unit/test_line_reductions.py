"""Reductions along memory, compiled: rows of any length, with what follows them, are what NumPy says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina

pytestmark = pytest.mark.slow

OPS = {"ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min, "ReduceProd": np.prod}


def test_rows_of_any_length_are_reduced() -> None:
    """All in one model: rows with and without a tail, two and many vectors long, and one with NaN in its tail."""
    random = np.random.default_rng(3)
    inputs: dict[str, Any] = {
        f"x{width}": random.uniform(0.9, 1.1, (2, 3, width)).astype("float32") for width in (32, 37, 200)
    }
    inputs["x37"][1, 2, 36] = np.nan
    nodes: list[Any] = []
    expected: dict[str, Any] = {}
    for name, x in inputs.items():
        for op, reference in OPS.items():
            attrs: dict[str, Any] = {} if op == "ReduceSum" else {"axes": [2]}
            taken = [name, *(["axes"] if op == "ReduceSum" else [])]
            nodes.append(helper.make_node(op, taken, [f"{op}_{name}"], keepdims=0, **attrs))
            expected[f"{op}_{name}"] = reference(x.astype("float64"), axis=2)
    graph = helper.make_graph(
        nodes,
        "rows",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in expected],
        [helper.make_tensor("axes", TensorProto.INT64, [1], [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = lamina.compile(model, threads=1, cache=False).run(inputs)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=3e-5, err_msg=name)


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3", "x86-64-v2"])
@pytest.mark.parametrize("shape", [(64, 1, 28, 112), (13, 7, 5), (3,)])
def test_a_whole_tensor_is_a_row(shape: tuple[int, ...], target: str) -> None:
    """As one chain of sums, the larger one would be 4e-4 off."""
    x = np.random.default_rng(5).integers(-32, 33, shape).astype(np.float32) / 8
    wide = x.astype(np.float64)
    centred = wide - wide.mean()
    expected = {
        "ReduceSum": wide.sum(),
        "ReduceL2": np.sqrt((wide * wide).sum()),
        "ReduceLogSumExp": np.log(np.exp(wide).sum()),
        "ReduceMax": wide.max(),
        "LayerNormalization": centred / np.sqrt((centred * centred).mean() + 1e-5),
    }
    nodes = [helper.make_node(op, ["x"], [op], keepdims=0) for op in expected if op.startswith("Reduce")]
    nodes.append(helper.make_node("LayerNormalization", ["x", "ones"], ["LayerNormalization"], axis=0))
    graph = helper.make_graph(
        nodes,
        "whole",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in expected],
        [helper.make_tensor("ones", TensorProto.FLOAT, shape, np.ones(x.size, np.float32))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    found = lamina.compile(model, target=target, threads=1, cache=False).run({"x": x})
    for name, value in expected.items():
        near = 1e-6 * np.abs(wide).max()
        np.testing.assert_allclose(found[name], value, rtol=1e-6, atol=near, err_msg=name)


def test_variances_of_rows_are_sums_in_lanes() -> None:
    """What reads the row and its mean, and a product of two rows element by element."""
    x = np.random.default_rng(6).standard_normal((5, 4099)).astype(np.float32)
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=[1], keepdims=1),
        helper.make_node("Sub", ["x", "mean"], ["centred"]),
        helper.make_node("Mul", ["centred", "centred"], ["squares"]),
        helper.make_node("ReduceMean", ["squares"], ["variance"], axes=[1], keepdims=0),
        helper.make_node("Mul", ["x", "y"], ["products"]),
        helper.make_node("ReduceSum", ["products", "axes"], ["dot"], keepdims=0),
    ]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n in ("x", "y")]
    results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("variance", "dot")]
    graph = helper.make_graph(nodes, "g", ports, results, [helper.make_tensor("axes", TensorProto.INT64, [1], [1])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    y = x[::-1].copy()
    found = lamina.compile(model, threads=1, cache=False).run({"x": x, "y": y})
    wide = x.astype(np.float64)
    np.testing.assert_allclose(found["variance"], wide.var(1), rtol=1e-6)
    np.testing.assert_allclose(found["dot"], (wide * y).sum(1), rtol=1e-5, atol=1e-4)
