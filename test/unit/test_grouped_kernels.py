"""Convolutions of few channels a group as machine code give the sums of their groups, whatever row and window."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu.costs import FITTED
from lamina.backends.cpu.schedules.pixel_rows import choose_tile
from lamina.dialects.relay import find_op
from lamina.dialects.relay.meaning import np_results
from lamina.transform import PassContext


class Case(NamedTuple):
    shape: tuple[int, ...]
    """Of the data."""
    channels: int
    groups: int
    kernel: int = 1
    strides: tuple[int, int] = (1, 1)
    threads: int = 1


CASES = {
    "rows_of_seven": Case((1, 68, 7, 7), 68, 2),
    "rows_of_fourteen": Case((1, 24, 14, 14), 48, 4),
    "rows_of_two_vectors": Case((2, 34, 4, 28), 68, 2, threads=2),
    "rows_of_many_vectors": Case((1, 6, 3, 150), 4, 2),
    "prime_channels": Case((1, 26, 5, 9), 62, 2),
    "window_of_three": Case((1, 12, 6, 17), 18, 3, kernel=3),
    "every_other_row": Case((1, 12, 8, 20), 12, 3, strides=(2, 1)),
    "every_other_pixel": Case((1, 12, 8, 20), 12, 3, strides=(2, 2)),
    "one_pixel": Case((1, 12, 1, 1), 12, 3),
    "few_channels": Case((1, 6, 5, 37), 3, 1, kernel=3),
    "every_other_pixel_of_a_long_row": Case((1, 3, 6, 105), 4, 1, kernel=5, strides=(2, 2), threads=2),
    "prime_channels_of_one_group": Case((1, 20, 23, 16), 67, 1),
    "many_planes_apart": Case((1, 66, 20, 56), 9, 1),
    "every_third_pixel": Case((2, 7, 9, 26), 5, 1, kernel=3, strides=(3, 3)),
    "every_fifth_pixel": Case((1, 4, 11, 31), 4, 2, kernel=3, strides=(5, 5)),
}


def model(case: Case) -> tuple[Any, np.ndarray, np.ndarray]:
    """y = max(conv(x, w) + b, 0)."""
    random = np.random.default_rng(sum(case.shape))
    size = (case.channels, case.shape[1] // case.groups, case.kernel, case.kernel)
    w = random.uniform(-1, 1, size).astype(np.float32)
    b = random.uniform(-1, 1, case.channels).astype(np.float32)
    x = random.uniform(-1, 1, case.shape).astype(np.float32)
    pads = [case.kernel // 2] * 4
    conv = find_op("relay.nn.conv2d")
    assert conv is not None
    attrs = {"strides": case.strides, "padding": pads, "groups": case.groups}
    (y,) = np_results(conv, [x.astype(np.float64), w.astype(np.float64)], attrs)
    y = np.maximum(y + b.astype(np.float64)[:, None, None], 0)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=pads, strides=case.strides, group=case.groups),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, case.shape)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, y.shape)
    graph = helper.make_graph(nodes, "g", [info], [result], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), x, y


@pytest.mark.parametrize("name", CASES)
def test_kernel_gives_the_convolution(name: str) -> None:
    made, x, expected = model(CASES[name])
    # Not by transformed tiles, which some machines prefer where there is one group.
    context = PassContext(opt_level=3, disabled_pass=["cpu-winograd"])
    (found,) = lamina.compile(made, threads=CASES[name].threads, opt_level=context).run({"x": x}).values()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("registers", [16, 32])
@pytest.mark.parametrize("width", [1, 7, 14, 28, 56, 113])
@pytest.mark.parametrize("channels", [1, 6, 17, 34, 37, 136])
def test_tile_fits_the_registers_and_divides_the_image(channels: int, width: int, registers: int) -> None:
    tile = choose_tile(channels, width, width, 16, registers, FITTED)
    held = tile.rows * tile.vectors
    assert tile.channels * held + held + 1 <= registers
    assert channels % tile.channels == 0 and width % tile.rows == 0 and tile.lanes in (8, 16)
    assert tile.rows == 1 or tile.vectors * tile.lanes >= width


def test_planes_far_apart_are_read_for_more_channels_at_a_time() -> None:
    near, far = (
        choose_tile(64, 56, 56, 16, 32, FITTED, uneven=True, apart=cycles) for cycles in (0.0, FITTED.plane_cycles)
    )
    assert near == (3, 1, 7, 8) and far == (6, 1, 4, 16)


@pytest.mark.parametrize(("between", "batch"), [(24, 1), (36, 2), (33, 1)])
def test_channels_that_do_not_fill_their_blocks(between: int, batch: int) -> None:
    """A kernel of one pixel reads parts of blocks; what pads the last one is no matter."""
    random = np.random.default_rng(between)
    x = random.uniform(-1, 1, (batch, 16, 5, 9)).astype(np.float32)
    v = random.uniform(-1, 1, (between, 16, 1, 1)).astype(np.float32)
    w = random.uniform(-1, 1, (48, between, 1, 1)).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "v"], ["c"]), helper.make_node("Conv", ["c", "w"], ["y"])]
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, (batch, 48, 5, 9))
    weights = [numpy_helper.from_array(v, "v"), numpy_helper.from_array(w, "w")]
    graph = helper.make_graph(nodes, "g", [info], [result], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    (found,) = lamina.compile(made, threads=1).run({"x": x}).values()
    product = (w[:, :, 0, 0].astype(np.float64) @ v[:, :, 0, 0]).reshape(48, 16)
    np.testing.assert_allclose(found, np.einsum("oc,nchw->nohw", product, x), rtol=0, atol=2e-5)
