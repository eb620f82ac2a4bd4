"""Transposes and changes of layout compute what NumPy says: whole tiles, ends of every length, other vectors, fused."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text

pytestmark = pytest.mark.slow


def transposed(shape: tuple[int, ...], order: tuple[int, ...], target: str, threads: int = 1) -> None:
    """Check y = relu(x) transposed + z."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Transpose", ["r"], ["t"], perm=list(order)),
        helper.make_node("Add", ["t", "z"], ["y"]),
    ]
    out = [shape[n] for n in order]
    ports = {"x": list(shape), "z": out}
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in ports.items()]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, out) for n in "yt"]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    draw = np.random.default_rng(0)
    x, z = (draw.standard_normal(s).astype(np.float32) for s in ports.values())
    got = lamina.compile(model, target=target, threads=threads, cache=False).run({"x": x, "z": z})
    expected = np.maximum(x, 0).transpose(order)
    np.testing.assert_array_equal(got["t"], expected)
    np.testing.assert_array_equal(got["y"], expected + z)


CASES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((37, 64), (1, 0)), ((2, 49, 33), (0, 2, 1)), ((100, 4), (1, 0)), ((4, 100), (1, 0)), ((5, 3), (1, 0)),
    ((2, 59, 7, 9), (0, 2, 3, 1)), ((2, 8, 12, 19), (0, 3, 1, 2)), ((4, 5, 6, 7), (3, 2, 1, 0)),
    ((17, 3, 4, 18), (3, 0, 2, 1)), ((3, 1, 20), (2, 1, 0)), ((1, 7, 13), (0, 2, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "order"), CASES[:4])
def test_transposes(shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    transposed(shape, order, "cpu", threads=2)


@pytest.mark.long
@pytest.mark.parametrize("target", ["cpu", "x86-64-v3", "x86-64-v2"])
@pytest.mark.parametrize(("shape", "order"), CASES)
def test_transposes_with_vectors_of_every_length(shape: tuple[int, ...], order: tuple[int, ...], target: str) -> None:
    transposed(shape, order, target)


@pytest.mark.parametrize("shape", [(2, 32, 5, 7), (1, 48, 24, 22), (1, 16, 3, 33)])
def test_channel_blocks(shape: tuple[int, ...]) -> None:
    n, c, h, w = shape
    blocks, plain = f"tensor<{n}x{c // 16}x{h}x{w}x16xf32>", f"tensor<{n}x{c}x{h}x{w}xf32>"
    text = f"""
func.func @main(%x: {plain}) -> ({blocks}, {plain}) {{
  %b = relay.layout_transform %x {{src_layout = "NCHW", dst_layout = "NCHW16c"}} : ({plain}) -> {blocks}
  %e = relay.exp %b : {blocks}
  %p = relay.layout_transform %b {{src_layout = "NCHW16c", dst_layout = "NCHW"}} : ({blocks}) -> {plain}
  return %e, %p : {blocks}, {plain}
}}"""
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    exe = lamina.compile(parse_text(LaminaContext(), text, "blocks.mlir"), threads=1, cache=False)
    e, p = exe.run({"x": x}).values()
    np.testing.assert_array_equal(p, x)
    np.testing.assert_allclose(e, np.exp(x.reshape(n, -1, 16, h, w).transpose(0, 1, 3, 4, 2)), rtol=1e-6)
    assert "tir.shuffle" in exe.text("tir")


def test_blocks_with_channels_that_are_not_there() -> None:
    draw = np.random.default_rng(0)
    x, w = draw.standard_normal((2, 59, 6, 7)), draw.standard_normal((21, 59))
    weight = helper.make_tensor("w", TensorProto.FLOAT, [21, 59, 1, 1], w.ravel())
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    ports += [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 21, 6, 7])]
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"])], "g", ports[:1], ports[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    got = lamina.compile(model, threads=1, cache=False).run({"x": x.astype(np.float32)})["y"]
    np.testing.assert_allclose(got, np.einsum("ncyx,kc->nkyx", x, w), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("n", "target"), [(4, "cpu"), (16, "x86-64-v3"), (13, "x86-64-v2")])
def test_transposes_of_what_an_index_in_memory_picks(n: int, target: str) -> None:
    nodes = [
        helper.make_node("Gather", ["x", "i"], ["picked"], axis=0),
        helper.make_node("Reshape", ["picked", "shape"], ["heads"]),
        helper.make_node("Transpose", ["heads"], ["swapped"], perm=[1, 0, 2]),
        helper.make_node("Transpose", ["swapped"], ["y"], perm=[0, 2, 1]),
    ]
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, n, 1, 2 * n])]
    ports += [helper.make_tensor_value_info("i", TensorProto.INT64, [])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, n, n])]
    shape = helper.make_tensor("shape", TensorProto.INT64, [3], [n, 2, n])
    graph = helper.make_graph(nodes, "g", ports, outputs, [shape])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    exe = lamina.compile(model, target=target, threads=1, cache=False)
    x = np.random.default_rng(n).standard_normal((3, n, 1, 2 * n)).astype(np.float32)
    for i in (1, -1):
        expected = x[i].reshape(n, 2, n).transpose(1, 2, 0)
        np.testing.assert_array_equal(exe.run({"x": x, "i": np.int64(i)})["y"], expected)
