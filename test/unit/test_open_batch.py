"""Convolutional networks that leave the batch or the image open: one program, on blocks of channels, for all sizes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina
from lamina.driver.api import Executable

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models import GraphWriter  # noqa: E402


def convolution(
    g: GraphWriter, x: str, name: str, sizes: tuple[int, int, int], stride: int = 1, groups: int = 1
) -> str:
    """A convolution (out, in, window) with bias, padded to keep the size."""
    out, into, window = sizes
    weight = g.weight(f"{name}.w", (out, into // groups, window, window), (2 / (into // groups * window**2)) ** 0.5)
    pads = [window // 2] * 4
    bias = g.weight(f"{name}.b", (out,), 0.1)
    return g.op("Conv", x, weight, bias, name=name, strides=[stride] * 2, pads=pads, group=groups)


def network(size: int | None, width: int, odd: int) -> Any:
    """For squares of a size, or any images: a stem, a block in Winograd's tiles, squeeze and excitation, depthwise and
    grouped kernels, branches that meet.

    `odd` channels fill no whole number of blocks.
    """
    g = GraphWriter(0)
    x = g.op("Relu", convolution(g, "image", "stem", (width, 3, 7), 2), name="stem.relu")
    x = g.op("MaxPool", x, name="stem.pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = g.op("Relu", convolution(g, x, "block.a", (width, width, 3)), name="block.relu")
    x = g.op("Add", convolution(g, y, "block.b", (width, width, 3)), x, name="block.sum")
    s = g.op("GlobalAveragePool", x, name="gate.pool")
    s = g.op("Relu", convolution(g, s, "gate.squeeze", (8, width, 1)), name="gate.relu")
    s = g.op("Sigmoid", convolution(g, s, "gate.excite", (width, 8, 1)), name="gate.sigmoid")
    x = g.op("Mul", x, s, name="gated")
    a = g.op("Relu", convolution(g, x, "depthwise", (width, width, 3), 2, width), name="depthwise.relu")
    b = g.op("Relu", convolution(g, x, "grouped", (odd, width, 3), 2, 2), name="grouped.relu")
    x = g.op("Concat", convolution(g, a, "point", (width, width, 1)), b, name="branches", axis=1)
    x = g.op("Relu", convolution(g, x, "wide", (2 * width, width + odd, 1)), name="wide.relu")
    x = g.op("Flatten", g.op("GlobalAveragePool", x, name="pool"), name="flat")
    weight = g.weight("classes.w", (10, 2 * width), 0.1)
    y = g.op("Gemm", x, weight, g.weight("classes.b", (10,), 0.1), name="classes", transB=1)
    shape = ["batch", 3, *((size, size) if size is not None else ("h", "w"))]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)
    result = helper.make_tensor_value_info(y, TensorProto.FLOAT, None)
    graph = helper.make_graph(g.nodes, "network", [image], [result], g.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(program: Executable, model: Any, size: int, batches: tuple[int, ...]) -> None:
    check_on(program, model, [(batch, 3, size, size) for batch in batches])


def check_on(program: Executable, model: Any, shapes: Sequence[tuple[int, ...]]) -> None:
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for shape in shapes:
        fed = {"image": np.random.default_rng(shape[0]).standard_normal(shape).astype(np.float32)}
        (found,), (expected,) = program.run(fed).values(), session.run(None, fed)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.long), 2])
def test_a_network_of_real_size(threads: int) -> None:
    model = network(112, 64, 40)
    program = lamina.compile(model, shapes={"batch": "1..20"}, threads=threads, cache=False)
    text = program.text("te")
    assert "conv2d_NCHWc" in text and "winograd_NCHWc" in text and "depthwise_conv2d_NCHWc" in text
    check(program, model, 112, (1, 2, 7, 20, 1))


@pytest.mark.parametrize(
    ("size", "width", "odd"), [(37, 16, 6), pytest.param(20, 24, 10, marks=pytest.mark.long), (50, 34, 2)]
)
def test_networks_whose_channels_fill_no_blocks(size: int, width: int, odd: int) -> None:
    model = network(size, width, odd)
    program = lamina.compile(model, shapes={"batch": "1..40"}, threads=1, cache=False)
    check(program, model, size, (1, 3, 16, 40))


@pytest.mark.parametrize(
    ("width", "odd", "threads"), [(64, 40, 2), (24, 10, 1), pytest.param(64, 40, 1, marks=pytest.mark.long)]
)
def test_images_of_any_size(width: int, odd: int, threads: int) -> None:
    """With nothing said of them; the smallest is what the kernels need."""
    model = network(None, width, odd)
    program = lamina.compile(model, threads=threads, cache=False)
    text = program.text("te")
    assert "conv2d_NCHWc" in text and "depthwise_conv2d_NCHWc" in text
    sizes = [(112, 112), (97, 131), (33, 64), (1, 1), (2, 3), (16, 40)]
    check_on(program, model, [(1 + n % 2, 3, h, w) for n, (h, w) in enumerate(sizes)])
    assert program.is_fixed


def test_vectors_along_the_batch() -> None:
    """Of images of one number, with padding: what is loaded is asked for as often as the loop around it ends."""
    g = GraphWriter(0)
    weight = g.weight("w", (1, 1, 9), 1.0)
    y = g.op("Conv", "image", weight, name="conv", kernel_shape=[9], pads=[4, 4], strides=[2])
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 2])
    graph = helper.make_graph(
        g.nodes, "c", [image], [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)], g.weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    program = lamina.compile(model, threads=1, cache=False)
    check_on(program, model, [(n, 1, 2) for n in (1, 3, 16, 31, 32, 100)])
    assert program.is_fixed


def test_a_batch_that_may_be_empty() -> None:
    model = network(20, 16, 16)
    program = lamina.compile(model, shapes={"batch": "0..8"}, threads=1, cache=False)
    assert [y.shape for y in program.run({"image": np.empty((0, 3, 20, 20), np.float32)}).values()] == [(0, 10)]
    check(program, model, 20, (1, 8))


@pytest.mark.parametrize(("first", "step", "sizes"), [(3, 1, "4..40"), (0, 2, "1..40")])
def test_a_batch_that_is_a_part_of_another(first: int, step: int, sizes: str) -> None:
    """It may be one image, for which what broadcasts does the same."""
    g = GraphWriter(0)
    ends = [g.constant(n, np.array([v])) for n, v in (("first", first), ("end", 1 << 40), ("axis", 0), ("step", step))]
    x = g.op("Slice", "image", *ends, name="part")
    y = g.op("Add", convolution(g, x, "conv", (32, 16, 3)), g.weight("bias", (32, 1, 1), 1.0), name="sum")
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 16, 9, 10])
    result = helper.make_tensor_value_info(y, TensorProto.FLOAT, None)
    graph = helper.make_graph(g.nodes, "part", [image], [result], g.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    program = lamina.compile(model, shapes={"batch": sizes}, threads=1, cache=False)
    session = pytest.importorskip("onnxruntime").InferenceSession(model.SerializeToString())
    for batch in (4, 5, 40):
        fed = {"image": np.random.default_rng(batch).standard_normal((batch, 16, 9, 10)).astype(np.float32)}
        (found,), (expected,) = program.run(fed).values(), session.run(None, fed)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
