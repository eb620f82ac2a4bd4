"""One value far from all others in a 3x3 convolution: infinities and NaN are where the direct sum has them, and what
remains is within the bounds of docs/numerics.md, in tiles of products and in those that are summed directly.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.dialects.relay.nn.winograd import winograd_matrices
from lamina.dialects.relay.nn.winograd_accuracy import np_far_tiles
from lamina.transform import PassContext

U = 2.0**-24
"""The unit roundoff of float32."""
PATHS = {2: 8, 4: 16}
"""Roundings on the way of an input, beside those of the sum over channels, by the size of tiles."""
FACTORS = {2: 16, 4: 92}
"""The bound by the largest weight of a kernel and all magnitudes of a tile, by the size of tiles."""


class Case(NamedTuple):
    """A convolution of one image."""

    channels: int
    out: int
    rows: int
    columns: int
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    tile: int = 4
    threads: int = 1
    dtype: str = "float32"


CASES = {
    "odd_image": Case(16, 32, 13, 13),
    "odd_channels": Case(20, 35, 7, 9, threads=2),
    "no_padding": Case(32, 16, 10, 22, (0, 0, 0, 0)),
    "padding_of_one_side": Case(48, 16, 14, 11, (0, 1, 2, 1)),
    "many_channels": Case(160, 16, 14, 14),
    "tiles_of_two": Case(16, 32, 7, 7, tile=2),
    "tiles_of_two_on_threads": Case(40, 16, 14, 9, tile=2, threads=2),
    "float64": Case(16, 16, 9, 8, dtype="float64"),
}


@cache
def compiled(case: Case) -> tuple[Any, np.ndarray]:
    """The convolution, and its weights."""
    random = np.random.default_rng([case.channels, case.rows])
    w = random.uniform(-1, 1, (case.out, case.channels, 3, 3)).astype(case.dtype)
    top, left, bottom, right = case.pads
    shape = (1, case.channels, case.rows, case.columns)
    out = (1, case.out, case.rows + top + bottom - 2, case.columns + left + right - 2)
    kind = TensorProto.FLOAT if case.dtype == "float32" else TensorProto.DOUBLE
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=case.pads)],
        "g",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", kind, out)],
        [numpy_helper.from_array(w, "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    context = PassContext(3, config={"cpu-winograd.tile-size": case.tile})
    return lamina.compile(made, threads=case.threads, opt_level=context), w


def padded(x: np.ndarray, pads: tuple[int, int, int, int]) -> np.ndarray:
    top, left, bottom, right = pads
    return np.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)])


def direct(x: np.ndarray, w: np.ndarray, pads: tuple[int, int, int, int]) -> np.ndarray:
    """The sum in float64."""
    windows = np.lib.stride_tricks.sliding_window_view(padded(x.astype(np.float64), pads), (3, 3), (2, 3))
    with np.errstate(all="ignore"):
        return np.moveaxis(np.tensordot(windows, w.astype(np.float64), ([1, 4, 5], [1, 2, 3])), 3, 1)


def bounds(x: np.ndarray, w: np.ndarray, case: Case, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each output may be off: by what its tile is made of, and the coarser one of that; far tiles by their own
    absolute products in both."""
    m, a = case.tile, case.tile + 2
    back, into, _ = (np.abs(np.array(n, np.float64)) for n in winograd_matrices(m, 3))
    exact = np.array(winograd_matrices(m, 3)[2], np.float64)
    u = np.abs(np.einsum("er,ocrs,fs->ocef", exact, w.astype(np.float64), exact))
    own = direct(np.abs(x), np.abs(w), case.pads) * (9 * case.channels + 1)
    fine, coarse = own.copy(), own.copy()
    z = np.abs(padded(x.astype(np.float64), (*case.pads[:2], case.pads[2] + a, case.pads[3] + a)))
    largest = np.abs(w).max((1, 2, 3))
    for i, j in np.argwhere(~far[0]):
        tile = z[0, :, i * m : i * m + a, j * m : j * m + a]
        v = np.einsum("re,crs,sf->cef", into, tile, into)
        y = back.T @ np.einsum("ocef,cef->oef", u, v) @ back * (case.channels + PATHS[m])
        here = np.s_[0, :, i * m : i * m + m, j * m : j * m + m]
        fine[here] = y[:, : fine[here].shape[1], : fine[here].shape[2]]
        all_of_it = largest * tile.sum() * FACTORS[m] * (case.channels + PATHS[m])
        coarse[here] = all_of_it[:, None, None]
    return U * fine, U * coarse


def far_of(x: np.ndarray, case: Case, outs: tuple[int, ...]) -> np.ndarray:
    """The tiles that are summed directly."""
    m = case.tile
    lanes = lamina_lanes()
    chunks = -(-case.channels // lanes)
    down, across = (-(-o // m) for o in outs)
    top, left, _, _ = case.pads
    z = np.zeros((1, chunks * lanes, down * m + 2, across * m + 2))
    z[:, : case.channels, top : top + case.rows, left : left + case.columns] = x
    blocks = z.reshape(1, chunks, lanes, *z.shape[2:]).transpose(0, 1, 3, 4, 2)
    return np_far_tiles(blocks, outs, (m, 3), np.array(3e37))


def lamina_lanes() -> int:
    """Channels of a block."""
    from lamina.backends.cpu.jit import host_target

    return host_target().lanes(32)


def places(case: Case) -> list[tuple[int, int, int]]:
    """Channel, row and column: corners, edges, the middle, and beside the tiles' edges."""
    c, h, w = case.channels, case.rows, case.columns
    return [(0, 0, 0), (c - 1, h - 1, w - 1), (1, 0, w // 2), (c // 2, h // 2, w // 2), (2, 3, 4), (3, 5, w - 1)]


def inputs(case: Case) -> np.ndarray:
    random = np.random.default_rng(7)
    shape = (1, case.channels, case.rows, case.columns)
    return np.maximum(random.standard_normal(shape), 0).astype(case.dtype)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("value", [-np.inf, np.nan])
def test_infinities_and_nan_are_those_of_the_direct_sum(name: str, value: float) -> None:
    case = CASES[name]
    exe, w = compiled(case)
    for c, y, x in places(case):
        data = inputs(case)
        data[0, c, y, x] = value
        found, wanted = exe(data), direct(data, w, case.pads)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
        infinite = np.isinf(wanted)
        np.testing.assert_array_equal(found[infinite], wanted[infinite])
        assert np.isfinite(found[np.isfinite(wanted)]).all()


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.dtype == "float32"])
@pytest.mark.parametrize("value", [0.0, 1e2, -1e4, 1e9, 3e37])
def test_what_one_value_leaves_is_within_the_bounds(name: str, value: float) -> None:
    case = CASES[name]
    exe, w = compiled(case)
    for c, y, x in places(case)[:: 1 if value else 6]:
        data = inputs(case)
        if value:
            data[0, c, y, x] = value
        found, wanted = exe(data).astype(np.float64), direct(data, w, case.pads)
        far = far_of(data, case, wanted.shape[2:])
        error = np.abs(found - wanted)
        fine, coarse = bounds(data, w, case, far)
        assert (error <= fine).all() and (fine <= coarse * (1 + 1e-9)).all()
        reached = np.zeros_like(data)
        reached[0, c, y, x] = 1
        others = direct(reached, np.ones_like(w), case.pads) == 0
        own = direct(np.abs(data), np.abs(w), case.pads)
        assert (error[others] <= 1e-5 * own[others]).all()
        if case.tile == 4:
            assert far.any() if abs(value) >= 1e4 else value or not far.any()


def test_values_of_all_sizes_are_within_the_bounds() -> None:
    case = CASES["odd_image"]
    exe, w = compiled(case)
    random = np.random.default_rng(3)
    for _ in range(8):
        data = (inputs(case) * 10.0 ** random.integers(-6, 7, (1, 1, case.rows, case.columns))).astype(np.float32)
        found, wanted = exe(data).astype(np.float64), direct(data, w, case.pads)
        far = far_of(data, case, wanted.shape[2:])
        assert far.any()
        fine, _ = bounds(data, w, case, far)
        error, own = np.abs(found - wanted), direct(np.abs(data), np.abs(w), case.pads)
        assert (error <= fine).all()
        assert (error <= 1e-5 * own).all()


def test_a_tile_of_zeros_is_zero_beside_large_numbers() -> None:
    case = CASES["no_padding"]
    exe, w = compiled(case)
    data = np.zeros((1, case.channels, case.rows, case.columns), np.float32)
    data[0, 5, 4, 9] = 1e9
    found, wanted = exe(data), direct(data, w, case.pads)
    assert (found[wanted == 0] == 0).all()
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e38])
def test_weights_beyond_the_transform_are_summed_directly(value: float) -> None:
    """A weight is in all outputs of its channel; what it gives in the others is theirs alone."""
    random = np.random.default_rng(5)
    w = random.uniform(-1, 1, (16, 16, 3, 3)).astype(np.float32)
    w[3, 2, 1, 1] = value
    x = random.uniform(0.1, 1, (1, 16, 9, 8)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[0, 0, 0, 0])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 16, 7, 6))],
        [numpy_helper.from_array(w, "w")],
    )
    exe = lamina.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), threads=1)
    assert "winograd" in str(exe.graph)
    np.testing.assert_allclose(exe(x), direct(x, w, (0, 0, 0, 0)), rtol=1e-4)


def test_an_epilogue_follows_the_direct_sums_too() -> None:
    random = np.random.default_rng(6)
    w = random.uniform(-1, 1, (16, 16, 3, 3)).astype(np.float32)
    b = random.uniform(-1, 1, 16).astype(np.float32)
    x = random.uniform(-1, 1, (1, 16, 13, 14)).astype(np.float32)
    x[0, 4, 6, 7], x[0, 3, 12, 0] = 1e9, np.inf
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
            helper.make_node("Add", ["c", "x"], ["s"]),
            helper.make_node("Relu", ["s"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")],
    )
    exe = lamina.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), threads=2)
    wanted = np.maximum(direct(x, w, (1, 1, 1, 1)) + b[:, None, None] + x, 0)
    np.testing.assert_allclose(exe(x), wanted, rtol=1e-5, atol=1e-4)
