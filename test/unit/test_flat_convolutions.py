"""Convolutions of sequences and volumes and transposed ones, done as those of images, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.measure.timing import largest_difference, onnxruntime_session

pytestmark = pytest.mark.slow

CASES: list[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ("Conv", (2, 6, 19), (20, 6, 5), {"pads": [1, 3], "strides": [2], "dilations": [2]}),
    ("Conv", (1, 12, 17), (18, 4, 3), {"group": 3}),
    ("Conv", (2, 3, 9, 7, 6), (17, 3, 3, 2, 3),
     {"pads": [1, 0, 2, 2, 1, 0], "strides": [2, 1, 2], "dilations": [3, 1, 1]}),
    ("Conv", (1, 5, 4, 6, 5), (4, 5, 1, 3, 3), {"strides": [3, 1, 1]}),
    ("Conv", (1, 20, 6, 7), (17, 20, 5, 4), {"dilations": [4, 2], "pads": [8, 1, 9, 0]}),
    ("Conv", (1, 20, 7, 21), (33, 20, 7, 5), {"dilations": [3, 1], "pads": [9, 0, 9, 0], "strides": [2, 2]}),
    ("ConvTranspose", (2, 5, 6, 7), (5, 9, 3, 3), {"strides": [2, 2], "pads": [1, 0, 1, 1], "output_padding": [1, 0]}),
    ("ConvTranspose", (1, 5, 6, 7), (5, 18, 3, 5), {"pads": [0, 2, 1, 2]}),
    ("ConvTranspose", (1, 3, 5, 4), (3, 7, 7, 5), {"strides": [3, 3], "pads": [2, 1, 3, 0]}),
    ("ConvTranspose", (1, 3, 5, 4), (3, 7, 2, 2), {"strides": [2, 2], "output_padding": [1, 1]}),
    ("ConvTranspose", (1, 3, 5, 4), (3, 2, 3, 3), {"strides": [2, 2], "pads": [0, 2, 1, 2]}),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "data", "weight", "attributes"), CASES)
def test_numbers(operator: str, data: tuple[int, ...], weight: tuple[int, ...], attributes: dict[str, Any]) -> None:
    pytest.importorskip("onnxruntime")
    draw = np.random.default_rng(0)
    x, w = (draw.standard_normal(s).astype(np.float32) for s in (data, weight))
    outs = weight[1] if operator == "ConvTranspose" else weight[0]
    b = draw.standard_normal(outs).astype(np.float32)
    nodes = [helper.make_node(operator, ["x", "w", "b"], ["c"], **attributes), helper.make_node("Relu", ["c"], ["y"])]
    constants = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, data)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model = made.SerializeToString()
    exe = lamina.compile(model, threads=1, cache=False)
    (expected,) = onnxruntime_session(model, 1).run(None, {"x": x})
    assert largest_difference(exe.run({"x": x})["y"], expected) < 1e-5
    assert not any(kind in exe.text("te") for kind in ("_conv1d", "_conv3d", "_conv2d_transpose"))
