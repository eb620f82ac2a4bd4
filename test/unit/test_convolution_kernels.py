"""Direct convolutions on channel blocks as machine code give the numbers of the sum, in whatever order they read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina

pytestmark = pytest.mark.slow

# Shape of the data, output channels, stride: data beyond the second-level cache and not, rows that no tile fills.
CASES = {
    "data_meets_all_weights_at_once": ((1, 256, 37, 41), 72, 1),
    "the_same_of_two_images": ((2, 272, 33, 31), 32, 1),
    "the_same_at_stride_2": ((1, 256, 37, 41), 32, 2),
    "weights_that_no_cache_holds": ((1, 320, 31, 29), 512, 1),
    "fetched_ahead": ((1, 160, 19, 23), 48, 1),
    "little_data": ((1, 16, 7, 7), 33, 1),
}


USUAL = ("data_meets_all_weights_at_once", "the_same_at_stride_2", "fetched_ahead")


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        pytest.param(name, threads, marks=[] if threads == 1 and name in USUAL else pytest.mark.long)
        for name in CASES
        for threads in (1, 2)
    ],
)
def test_pointwise_convolution(name: str, threads: int) -> None:
    shape, channels, stride = CASES[name]
    random = np.random.default_rng(sum(shape))
    x = random.uniform(-1, 1, shape).astype(np.float32)
    w = random.uniform(-1, 1, (channels, shape[1], 1, 1)).astype(np.float32)
    b = random.uniform(-1, 1, channels).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], strides=[stride, stride]),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    sides = (("x", shape), ("y", None))
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in sides]
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    found = lamina.compile(model, threads=threads).run({"x": x})["y"]
    kept = x[:, :, ::stride, ::stride].astype(np.float64)
    expected = np.maximum(np.einsum("oc,ncyx->noyx", w[:, :, 0, 0].astype(np.float64), kept) + b[:, None, None], 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


# Kernel, stride, dilation, padding: borders in one tile of a row, in two, in more (which are copied), and none.
WINDOWS = {
    "one_tile_each_way": ((3, 3), 2, 1, (1, 1, 1, 1)),
    "only_behind": ((3, 2), 1, 1, (0, 0, 2, 1)),
    "dilated": ((3, 3), 1, 2, (2, 2, 2, 2)),
    "more_than_a_tile": ((1, 3), 1, 1, (0, 16, 0, 2)),
    "a_wide_window": ((2, 5), 1, 1, (1, 2, 0, 2)),
    "a_column": ((3, 1), 2, 1, (1, 0, 1, 3)),
    "stride_beyond_the_window": ((1, 2), 3, 1, (2, 1, 0, 3)),
}


BRIEF = ("one_tile_each_way", "dilated")


@pytest.mark.parametrize(
    ("shape", "names", "threads"),
    [
        ((2, 16, 4, 29), (*BRIEF, "more_than_a_tile"), 2),
        pytest.param((1, 32, 96, 96), BRIEF, 1, marks=pytest.mark.long),  # fetched ahead
        *(pytest.param((2, 21, 6, w), tuple(WINDOWS), 1, marks=pytest.mark.long) for w in (1, 2, 14, 15, 29, 56)),
    ],
)
def test_padding_is_left_out_or_copied(shape: tuple[int, ...], names: tuple[str, ...], threads: int) -> None:
    random = np.random.default_rng(shape[3])
    x = random.uniform(-1, 1, shape).astype(np.float32)
    weights = {n: random.uniform(-1, 1, (20, shape[1], *WINDOWS[n][0])).astype(np.float32) for n in names}
    nodes: list[Any] = []
    expected: dict[str, Any] = {}
    for name in names:
        kernel, stride, dilation, pads = WINDOWS[name]
        padded = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3]))).astype(np.float64)
        spans = [(k - 1) * dilation + 1 for k in kernel]
        if padded.shape[2] < spans[0] or padded.shape[3] < spans[1]:
            continue
        given: dict[str, Any] = {"strides": [stride] * 2, "dilations": [dilation] * 2, "pads": pads}
        nodes.append(helper.make_node("Conv", ["x", f"{name}_w"], [name], name, **given))
        taps = np.lib.stride_tricks.sliding_window_view(padded, spans, (2, 3))
        taps = taps[:, :, ::stride, ::stride, ::dilation, ::dilation]
        expected[name] = np.einsum("ncyxrs,ocrs->noyx", taps, weights[name].astype(np.float64), optimize=True)
    infos = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in (("x", shape), *((n, None) for n in expected))
    ]
    initializers = [numpy_helper.from_array(weights[n], f"{n}_w") for n in expected]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    direct = lamina.transform.PassContext(opt_level=3, disabled_pass=("cpu-winograd",))
    found = lamina.compile(model, threads=threads, opt_level=direct).run({"x": x})
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-5 * np.abs(values).max(), err_msg=name)


@pytest.mark.parametrize(("channels", "groups"), [(64, 2), (48, 3), (96, 2)])
def test_neighbours_of_a_scalar_in_a_tile_of_two_groups(channels: int, groups: int) -> None:
    """A tile has the channels of several groups: which one a scalar is of, a division of the unrolled loop says."""
    random = np.random.default_rng(0)
    w = random.integers(-3, 4, (channels, channels // groups, 1, 1)).astype(np.float32)
    x = random.integers(-3, 4, (1, channels, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], group=groups)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)],
        [numpy_helper.from_array(w, "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (found,) = lamina.compile(made, threads=1).run({"x": x}).values()
    parts = zip(np.split(w[:, :, 0, 0], groups), np.split(x, groups, axis=1), strict=True)
    expected = np.concatenate([np.einsum("oi,nihw->nohw", a, b) for a, b in parts], axis=1)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", range(6))
def test_rows_that_end_within_a_tile_of_several_vectors(n: int, tmp_path: Path) -> None:
    """The last vector of the last tile of a row has nothing to do; first six images of 3 x 112, a kernel of 5 x 3."""
    random = np.random.default_rng(n)
    width = int(random.choice([48, 80, 112, 144, 176]))
    shape, kernel, channels = (int(random.integers(2, 8)), 1, 3, width), (int(random.choice([3, 5])), 3), 2 * n + 4
    if n == 0:
        shape, kernel, channels = (6, 1, 3, 112), (5, 3), 14
    x = random.integers(-8, 8, shape).astype(np.float32)
    w = random.integers(-8, 8, (channels, 1, *kernel)).astype(np.float32)
    rows, columns = kernel[0] // 2, 1
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[rows, columns, rows, columns], strides=[3, 1])
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, s) for name, s in (("x", shape), ("y", None))]
    graph = helper.make_graph([node], "g", info[:1], info[1:], [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    padded = np.pad(x, ((0, 0), (0, 0), (rows, rows), (columns, columns)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, (2, 3))[:, :, ::3]
    expected = np.einsum("ncyxrs,kcrs->nkyx", windows, w)
    np.testing.assert_array_equal(lamina.compile(model, threads=1).run({"x": x})["y"], expected)
    for target in ("icelake-server", "x86-64-v3"):  # code for them is made, also where it cannot run
        lamina.export(model, tmp_path / "net.so", target, threads=1)
