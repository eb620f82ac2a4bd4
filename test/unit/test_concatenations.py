"""Concatenations of parts that are computed in the same kernel give NumPy's numbers, whatever the parts are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina

Part = Callable[[Any, Any], Any]


def truncated(a: Any, b: Any) -> Any:
    return np.trunc(a / b).astype(np.int64)


PARTS: dict[str, tuple[int, int, Part]] = {
    # operator: element type, element type of the result, what it computes of a part and of the part after it
    "Abs": (TensorProto.INT64, TensorProto.INT64, lambda a, b: np.abs(a)),
    "Div": (TensorProto.INT64, TensorProto.INT64, truncated),
    "Less": (TensorProto.FLOAT, TensorProto.BOOL, np.less),
    "Pad": (TensorProto.FLOAT, TensorProto.FLOAT, lambda a, b: np.pad(a, ((1, 0), (0, 2)))),
    "Where": (TensorProto.FLOAT, TensorProto.FLOAT, np.minimum),
}


@pytest.mark.parametrize(
    ("shape", "axis", "target"), [((16, 32), 0, "cpu"), ((3, 5), 1, "cpu"), ((8, 49), 0, "x86-64-v3")]
)
@pytest.mark.parametrize("kind", PARTS)
def test_computed_parts(kind: str, shape: tuple[int, int], axis: int, target: str) -> None:
    element, result, compute = PARTS[kind]
    names = ["a", "b", "c"]
    nodes: list[Any] = []
    for name, other in zip(names, [*names[1:], names[0]], strict=True):
        given = {"Abs": [name], "Pad": [name, "pads"], "Where": [f"{name}_less", name, other]}.get(kind, [name, other])
        if kind == "Where":
            nodes.append(helper.make_node("Less", [name, other], [f"{name}_less"]))
        nodes.append(helper.make_node(kind, given, [f"{name}_part"]))
    nodes.append(helper.make_node("Concat", [f"{name}_part" for name in names], ["y"], axis=axis))
    draw = np.random.default_rng(shape[1])
    dtype = helper.tensor_dtype_to_np_dtype(element)
    inputs = {name: (draw.integers(1, 9, shape) * draw.choice([-1, 1], shape)).astype(dtype) for name in names}
    expected = np.concatenate([compute(inputs[a], inputs[b]) for a, b in zip("abc", "bca", strict=True)], axis)
    ports = [helper.make_tensor_value_info(name, element, shape) for name in names]
    outputs = [helper.make_tensor_value_info("y", result, expected.shape)]
    pads = [helper.make_tensor("pads", TensorProto.INT64, [4], [1, 0, 0, 2])] if kind == "Pad" else []
    graph = helper.make_graph(nodes, "g", ports, outputs, pads)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = lamina.compile(model, target=target, threads=1, cache=False).run(inputs)["y"]
    np.testing.assert_array_equal(found, expected)
