"""Quantised ONNX models against onnxruntime: the integers differ by one at most, and seldom."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import lamina

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "bench")]

from models import GraphWriter  # noqa: E402
from quantised import quantised  # noqa: E402


def model_of(g: GraphWriter, x: tuple[int, ...], result: str) -> ModelProto:
    kinds = [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(x))]
    made = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
    graph = helper.make_graph(g.nodes, "quantised", kinds, [made], g.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def conv(g: GraphWriter, x: str, name: str, w: tuple[int, int, int, int], **attrs: Any) -> str:
    weight = g.weight(f"{name}.w", w, (w[1] * w[2] * w[3]) ** -0.5)
    return g.op("Conv", x, weight, g.weight(f"{name}.b", (w[0],), 0.1), name=name, **attrs)


def residual_block(batch: int) -> tuple[ModelProto, tuple[int, ...]]:
    """Three channels, channels that fill no block, strides, a depthwise kernel, a sum, a pool and a dense layer."""
    g, shape = GraphWriter(0), (batch, 3, 15, 17)
    x = g.op("Relu", conv(g, "x", "stem", (24, 3, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1]), name="stem.relu")
    y = g.op("Relu", conv(g, x, "expand", (40, 24, 1, 1)), name="expand.relu")
    y = g.op("Relu", conv(g, y, "depthwise", (40, 1, 3, 3), group=40, pads=[1, 1, 1, 1]), name="depthwise.relu")
    y = g.op("Add", x, conv(g, y, "project", (24, 40, 1, 1)), name="sum")
    y = conv(g, y, "dilated", (32, 24, 3, 3), pads=[2, 2, 2, 2], dilations=[2, 2])
    y = g.op("Flatten", g.op("GlobalAveragePool", y, name="pool"), name="flat")
    w, b = g.weight("dense.w", (10, 32), 0.2), g.weight("dense.b", (10,), 0.1)
    return model_of(g, shape, g.op("Gemm", y, w, b, name="dense", transB=1)), shape


def steps_apart(model: ModelProto, inputs: dict[str, Any]) -> Any:
    """By how many steps of its scale each element of the last result differs from onnxruntime's."""
    import onnxruntime

    session: Any = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, inputs)[0]
    exe = lamina.compile(model.SerializeToString(), threads=1, cache=False)
    (found,) = exe.run(inputs).values()
    last = {t.name: t for t in model.graph.initializer}[f"{model.graph.output[0].name}.scale"]
    return np.rint((found - expected) / np.frombuffer(last.raw_data, np.float32))


@pytest.mark.parametrize(("signed", "batch"), [(False, 1), (True, 2)])
def test_a_residual_block_is_onnxruntimes_by_a_step(signed: bool, batch: int) -> None:
    model, shape = residual_block(batch)
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    steps = steps_apart(quantised(model, {"x": x}, signed), {"x": x})
    assert np.abs(steps).max() <= 1
    assert np.mean(steps != 0) < 0.2


def test_its_kernels_work_on_bytes() -> None:
    """What one kernel leaves for another are bytes, but for what is pooled."""
    model, shape = residual_block(1)
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    exe = lamina.compile(quantised(model, {"x": x}).SerializeToString(), threads=1, cache=False)
    calls = [line for line in exe.text("te").splitlines() if "te.call" in line and "->" in line]
    made = [re.findall(r"tensor<(?:\d+x)*(\w+)>", line.split("->")[1]) for line in calls]
    kinds = [kind for kinds in made[:-1] for kind in kinds]
    assert set(kinds) == {"ui8", "f32"}
    assert kinds.count("f32") == 1
