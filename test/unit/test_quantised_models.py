"""Quantised ONNX models against onnxruntime: the integers differ by one at most, and seldom."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import lamina
from lamina.measure.timing import exact_session

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "bench")]

from models import GraphWriter  # noqa: E402
from quantised import quantised  # noqa: E402

pytestmark = pytest.mark.slow


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


def half_of_a_unet(batch: int) -> tuple[ModelProto, tuple[int, ...]]:
    """Transposed windows that overlap and that do not, beside what was pooled: three scales put together."""
    g, shape = GraphWriter(0), (batch, 3, 10, 12)
    kept = g.op("Relu", conv(g, "x", "down", (20, 3, 3, 3), pads=[1, 1, 1, 1]), name="down.relu")
    x = g.op("MaxPool", kept, name="pool", kernel_shape=[2, 2], strides=[2, 2])
    parts = [kept]
    for name, k, pads in (("up", 2, [0, 0, 0, 0]), ("smooth", 3, [0, 0, 1, 1])):
        w, b = g.weight(f"{name}.w", (20, 16, k, k), 0.2), g.weight(f"{name}.b", (16,), 0.1)
        parts.append(g.op("ConvTranspose", x, w, b, name=name, strides=[2, 2], pads=pads))
    return model_of(g, shape, g.op("Concat", *parts, name="joined", axis=1)), shape


def by_onnxruntime(model: ModelProto, inputs: dict[str, Any]) -> Any:
    """The first result of onnxruntime."""
    return exact_session(model.SerializeToString()).run(None, inputs)[0]


def steps_apart(model: ModelProto, inputs: dict[str, Any]) -> Any:
    """By how many steps of its scale each element of the last result differs from onnxruntime's."""
    expected = by_onnxruntime(model, inputs)
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


def test_transposed_convolutions_are_onnxruntimes() -> None:
    """Their sums are exact, and rounded twice as the model says: at their own scale and at that of all parts."""
    model, shape = half_of_a_unet(2)
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    assert not steps_apart(quantised(model, {"x": x}, signed=True), {"x": x}).any()


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


def test_a_float_bias_is_not_rounded_to_a_step_of_the_sums() -> None:
    """What differs from exact arithmetic is a tie, but for the roundings of float32."""
    rng = np.random.default_rng(0)
    w = integers_of(rng, "int8", 16, 16, 3, 3)
    scales = ((1 + rng.integers(0, 8, 16) / 8) / 512).astype(np.float32)
    bias = (rng.standard_normal(16) / 4).astype(np.float32)
    given, made, zero = np.float32(1 / 32), np.float32(1 / 32), np.uint8(0)
    arrays = {"w": w, "scales": scales, "zeros": np.zeros(16, np.int8), "b": bias, "s": given, "t": made, "z": zero}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["real"]),
        helper.make_node("DequantizeLinear", ["w", "scales", "zeros"], ["weight"], axis=0),
        helper.make_node("Conv", ["real", "weight", "b"], ["sums"], pads=[1, 1, 1, 1]),
        helper.make_node("QuantizeLinear", ["sums", "t", "z"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "float_bias",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 16, 14, 14])],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
        [numpy_helper.from_array(np.asarray(a), name) for name, a in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = integers_of(rng, "uint8", 1, 16, 14, 14)
    exe = lamina.compile(model.SerializeToString(), threads=1, cache=False)
    (found,) = exe.run({"x": x}).values()
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))).astype(np.float64), (3, 3), axis=(2, 3)
    )
    sums = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.float64))
    factors = (scales.astype(np.float64) * given / made, bias.astype(np.float64) / made)
    exact = sums * factors[0].reshape(-1, 1, 1) + factors[1].reshape(-1, 1, 1)
    off = 0.5 - abs(exact - np.floor(exact) - 0.5)  # how far from a whole number
    differs = found != np.clip(np.rint(exact), 0, 255)
    assert not (differs & (off < 0.4999)).any()


def integers_of(rng: np.random.Generator, kind: str, *shape: int) -> Any:
    return rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)


def node_model(op: str, inputs: list[Any], graph_inputs: int, kind: int, **attrs: Any) -> ModelProto:
    """One node; the inputs from the second on are constants but for the first `graph_inputs`."""
    names = [f"i{k}" for k in range(len(inputs))]
    given = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), list(a.shape))
        for n, a in zip(names[:graph_inputs], inputs, strict=False)
    ]
    constants = [numpy_helper.from_array(np.asarray(a), n) for n, a in zip(names, inputs, strict=True)][graph_inputs:]
    node = helper.make_node(op, names, ["y"], **attrs)
    graph = helper.make_graph([node], op, given, [helper.make_tensor_value_info("y", kind, None)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def both(model: ModelProto, inputs: dict[str, Any]) -> tuple[Any, Any]:
    """Our result and onnxruntime's."""
    exe = lamina.compile(model.SerializeToString(), threads=1, cache=False)
    (found,) = exe.run(inputs).values()
    return found, by_onnxruntime(model, inputs)


@pytest.mark.parametrize(
    ("rows", "units", "kind"), [(1, 1000, "uint8"), (9, 48, "uint8"), (5, 19, "uint8"), (6, 32, "int8")]
)
def test_qlinear_matmul_is_onnxruntimes(rows: int, units: int, kind: str) -> None:
    rng = np.random.default_rng(3)
    x, w = integers_of(rng, kind, rows, 36), integers_of(rng, "int8", 36, units)
    w_scale = rng.uniform(0.005, 0.02, units).astype(np.float32)
    zero = np.asarray(7, kind)
    given = [x, np.float32(0.02), zero, w, w_scale, np.zeros(units, np.int8), np.float32(0.9), zero]
    model = node_model("QLinearMatMul", given, 1, helper.np_dtype_to_tensor_dtype(np.dtype(kind)))
    found, expected = both(model, {"i0": x})
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("group", [1, 24])
def test_qlinear_conv_is_onnxruntimes(group: int, kind: str) -> None:
    """Weights with one scale an output channel, or one for all and a zero point."""
    rng = np.random.default_rng(4)
    x, w = integers_of(rng, "uint8", 1, 24, 9, 11), integers_of(rng, kind, 24, 24 // group, 3, 3)
    scales, zeros = rng.uniform(0.005, 0.02, 24).astype(np.float32), np.zeros(24, np.int8)
    given: list[Any] = [scales, zeros] if kind == "int8" else [scales[0], np.uint8(117)]
    given = [x, np.float32(0.02), np.uint8(131), w, *given, np.float32(0.3), np.uint8(99)]
    bias = rng.integers(-9999, 9999, 24).astype(np.int32)
    model = node_model("QLinearConv", [*given, bias], 1, TensorProto.UINT8, group=group, pads=[1, 1, 1, 1])
    found, expected = both(model, {"i0": x})
    np.testing.assert_array_equal(found, expected)


def test_integer_products_are_exact() -> None:
    rng = np.random.default_rng(5)
    x, w = integers_of(rng, "uint8", 7, 44), integers_of(rng, "int8", 44, 24)
    model = node_model("MatMulInteger", [x, w, np.uint8(200)], 1, TensorProto.INT32)
    exe = lamina.compile(model.SerializeToString(), threads=1, cache=False)
    (found,) = exe.run({"i0": x}).values()
    np.testing.assert_array_equal(found, (x.astype(np.int64) - 200) @ w.astype(np.int64))
    image, kernel = integers_of(rng, "uint8", 2, 5, 6, 7), integers_of(rng, "uint8", 16, 5, 3, 3)
    given = [image, kernel, np.uint8(9), np.uint8(128)]
    found, expected = both(node_model("ConvInteger", given, 1, TensorProto.INT32), {"i0": image})
    np.testing.assert_array_equal(found, expected)


def test_bfloat16_products_are_accumulated_in_float32() -> None:
    import ml_dtypes

    rng = np.random.default_rng(6)
    x = rng.standard_normal((9, 48)).astype(np.float32)
    w = rng.standard_normal((48, 32)).astype(ml_dtypes.bfloat16)
    nodes = [
        helper.make_node("Cast", ["x"], ["narrow"], to=TensorProto.BFLOAT16),
        helper.make_node("MatMul", ["narrow", "w"], ["product"]),
        helper.make_node("Cast", ["product"], ["y"], to=TensorProto.FLOAT),
    ]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [9, 48]), ("y", [9, 32]))]
    graph = helper.make_graph(nodes, "bf16", ports[:1], ports[1:], [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    exe = lamina.compile(model.SerializeToString(), threads=1, cache=False)
    (found,) = exe.run({"x": x}).values()
    exact = x.astype(ml_dtypes.bfloat16).astype(np.float64) @ w.astype(np.float64)
    # The sum is a float32, rounded once to bfloat16.
    np.testing.assert_allclose(found, exact, rtol=2**-8, atol=1e-4)
