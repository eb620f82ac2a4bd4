"""Depthwise convolutions as machine code give the sums over their windows, whatever the shape, padding and stride."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.dialects.relay import find_op
from lamina.dialects.relay.meaning import np_results


class Case(NamedTuple):
    shape: tuple[int, ...]
    kernel: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    dilations: tuple[int, int] = (1, 1)
    threads: int = 1
    plain: bool = False
    """In plain order, not on channel blocks, which a convolution behind it asks for."""


CASES = {
    "a_row_in_one_tile": Case((1, 32, 7, 7), (3, 3)),
    "tiles_of_a_row": Case((1, 16, 5, 40), (3, 3), threads=2),
    "uneven_tiles": Case((1, 24, 6, 19), (3, 3)),
    "stride_two": Case((2, 40, 17, 18), (3, 3), (2, 2), (0, 0, 1, 1)),
    "window_of_five": Case((1, 16, 9, 14), (5, 5), pads=(2, 2, 2, 2)),
    "window_of_five_stride_two": Case((1, 20, 11, 30), (5, 5), (2, 2), (2, 2, 2, 2)),
    "no_padding": Case((1, 16, 8, 12), (3, 3), pads=(0, 0, 0, 0)),
    "more_padding_than_image": Case((1, 17, 2, 3), (3, 3), pads=(4, 3, 2, 5)),
    "wide_and_dilated": Case((1, 16, 6, 21), (1, 3), pads=(0, 2, 0, 2), dilations=(1, 2)),
    "one_pixel": Case((3, 16, 1, 1), (3, 3)),
    "plain_row_of_seven": Case((1, 5, 7, 7), (3, 3), plain=True),
    "plain_rows_of_two_vectors": Case((2, 4, 6, 28), (3, 3), (2, 1), plain=True, threads=2),
    "plain_long_rows": Case((1, 2, 3, 205), (3, 3), plain=True),
    "plain_window_of_five": Case((1, 3, 9, 14), (5, 5), pads=(2, 2, 2, 2), plain=True),
    "plain_dilated": Case((1, 3, 9, 33), (3, 2), pads=(2, 3, 0, 1), dilations=(2, 2), plain=True),
    "plain_few_pixels": Case((1, 16, 2, 3), (3, 3), pads=(4, 3, 2, 5), plain=True),
}


def model(case: Case) -> tuple[Any, np.ndarray, np.ndarray]:
    """y = min(max(conv(x, w) + b, 0), 6), or a convolution of it with the identity."""
    random = np.random.default_rng(sum(case.shape))
    channels = case.shape[1]
    w = random.uniform(-2, 2, (channels, 1, *case.kernel)).astype(np.float32)
    b = random.uniform(-1, 1, channels).astype(np.float32)
    x = random.uniform(-2, 2, case.shape).astype(np.float32)
    conv = find_op("relay.nn.conv2d")
    assert conv is not None
    attrs = {"strides": case.strides, "padding": case.pads, "dilation": case.dilations, "groups": channels}
    (y,) = np_results(conv, [x.astype(np.float64), w.astype(np.float64)], attrs)
    y = np.clip(y + b.astype(np.float64)[:, None, None], 0, 6)
    nodes = [
        helper.make_node(
            "Conv",
            ["x", "w", "b"],
            ["c"],
            pads=case.pads,
            strides=case.strides,
            dilations=case.dilations,
            group=channels,
        ),
        helper.make_node("Clip", ["c", "low", "high"], ["y" if case.plain else "d"]),
    ]
    if not case.plain:
        nodes.append(helper.make_node("Conv", ["d", "i"], ["y"]))
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
    weights.append(numpy_helper.from_array(np.eye(channels, dtype=np.float32)[:, :, None, None], "i"))
    weights += [numpy_helper.from_array(np.array(v, np.float32), n) for n, v in (("low", 0), ("high", 6))]
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, case.shape)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, y.shape)
    graph = helper.make_graph(nodes, "g", [info], [result], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), x, y


@pytest.mark.parametrize("name", CASES)
def test_kernel_gives_the_convolution(name: str) -> None:
    made, x, expected = model(CASES[name])
    executable = lamina.compile(made, threads=CASES[name].threads)
    assert ("contrib_depthwise_conv2d_NCHWc" in executable.text("te")) != CASES[name].plain
    (found,) = executable.run({"x": x}).values()
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)


def test_infinite_weights_meet_no_padding() -> None:
    """0 * inf is no number: what the window has beside the image is left out, as onnxruntime does."""
    case = CASES["a_row_in_one_tile"]
    made, x, _ = model(case)
    w = np.zeros((case.shape[1], 1, *case.kernel), np.float32)
    w[:, :, 0] = np.inf
    made.graph.initializer[0].CopyFrom(numpy_helper.from_array(w, "w"))
    (found,) = lamina.compile(made, threads=1).run({"x": np.abs(x) + 1}).values()
    assert np.isfinite(found[:, :, 0]).all() and (found[:, :, 1:] == 6).all()


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3"])
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.plain])
def test_machines_without_masks_give_the_same(name: str, target: str) -> None:
    made, x, expected = model(CASES[name])
    (found,) = lamina.compile(made, target=target, threads=CASES[name].threads).run({"x": x}).values()
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", ""])
@pytest.mark.parametrize("seed", range(6))
def test_drawn_groups_of_few_channels_give_the_convolution(seed: int, target: str) -> None:
    """Of one or two dimensions, of real widths, which fill no tile."""
    r = np.random.default_rng(seed)
    rank, groups, window = int(r.integers(1, 3)), int(r.integers(2, 7)), int(r.integers(2, 6))
    given, made = (int(groups * n) for n in r.integers(1, 6, 2))
    strides = [int(n) for n in r.integers(1, 3, rank)]
    shape = (2, given, *(int(n) for n in r.integers(window, 140 if rank == 1 else 60, rank)))
    x, w = (r.uniform(-2, 2, s).astype(np.float32) for s in (shape, (made, given // groups, *[window] * rank)))
    conv = find_op(f"relay.nn.conv{rank}d")
    assert conv is not None
    pads = [int(n) for n in r.integers(0, window, 2 * rank)]
    attrs = {"strides": strides, "padding": pads, "dilation": [1] * rank, "groups": groups}
    (y,) = np_results(conv, [x.astype(np.float64), w.astype(np.float64)], attrs)
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=pads, strides=strides, group=groups)
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", shape), ("y", y.shape))]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:], [numpy_helper.from_array(w, "w")])
    program = lamina.compile(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), target=target or "cpu", threads=1
    )
    (found,) = program.run({"x": x}).values()
    np.testing.assert_allclose(found, y, rtol=0, atol=1e-4)
