"""Reductions along memory, compiled: rows of any length, with what follows them, are what NumPy says."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

import lamina

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
