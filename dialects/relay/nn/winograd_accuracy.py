"""Selection of Winograd's tiles that are summed directly: those in which rounding errors would outweigh a result.

An output of a tile is made of all its inputs, those that it does not read too: in exact arithmetic these cancel. What
is left of them are rounding errors, as large as the largest inputs of the tile allow, and of an infinity no number. So
a tile is near, and done in products of its transform, if for its inputs x, of C channels,

    |x|^2 <= limit    and    |x|^2 <= (tolerance(C) * the least sum of magnitudes that one of its outputs reads)^2

and far, and summed directly, if not. The limit comes from the weights: below it nothing overflows on the way. What is
no number fulfils no condition. docs/numerics.md has the bounds, and what is measured.

|x|^2 is taken from sums of magnitudes, which are needed anyway: of up to PART channels at the same place of their
blocks, which makes it larger, never smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from lamina.dialects.numpy_dtypes import largest
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.nn.winograd import winograd_matrices

PART = 8
"""Channels, at most, whose magnitudes are added before they are squared."""


def tolerance(channels: int) -> float:
    """The most that a tile's norm may be, as a multiple of the norm of what an output reads.

    1.4 times as much leaves 1e-5 of the sum of absolute products: an input that a sum over C channels began with is in
    all its roundings, which add up like the root of C.
    """
    return 4 / (1 + sqrt(channels) / 3)


def part_of(chunks: int) -> int:
    """Chunks of channels whose magnitudes are added before they are squared: a divisor of them all."""
    return max(n for n in range(1, PART + 1) if chunks % n == 0)


def largest_top(shape: Sequence[int], dtype: str, tile_size: int) -> float:
    """The product of a tile's norm and the largest magnitude of a transformed weight [a, a, O/b, C/c, c, b] up to which
    all that is computed is finite.

    With b and a the rows of the matrices of data and result, the largest sum of a tile is at most
    max(|a|_1)^2 * max|weight| * max(|b|_2)^2 * root(C) * |x|.
    """
    back, into, _ = winograd_matrices(tile_size, shape[0] - tile_size + 1)
    rows_back, rows_into = np.array(back, np.float64).T, np.array(into, np.float64).T
    growth = np.abs(rows_back).sum(1).max() ** 2 * np.square(rows_into).sum(1).max()
    return largest(dtype) / 2 / float(growth) / sqrt(shape[3] * shape[4])


def np_far_tiles(
    padded: NDArray[Any], outs: Sequence[int], sizes: tuple[int, int], limit: NDArray[Any]
) -> NDArray[np.bool_]:
    """Mask of the far tiles, [N, rows of tiles, columns of tiles], of data [N, C/c, H, W, c] with its padding.

    `outs` are rows and columns of the result, `sizes` those of a tile of it and of the kernel.
    """
    m, k = sizes
    n, chunks, height, width, inner = padded.shape
    down, across = (-(-o // m) for o in outs)
    part = part_of(chunks)
    with np.errstate(all="ignore"):
        sums = np.abs(padded.astype(np.float64)).reshape(n, chunks // part, part, height, width, inner).sum(2)
        squares, magnitudes = np.square(sums).sum((1, 4)), sums.sum((1, 4))
        allowed = tolerance(chunks * inner)
        far = np.ones((n, down, across), bool)
        for i, j in np.ndindex(down, across):
            square = squares[:, i * m : i * m + m + k - 1, j * m : j * m + m + k - 1].sum((1, 2))
            read = [
                magnitudes[:, y : y + k, x : x + k].sum((1, 2))
                for y in range(i * m, min(i * m + m, outs[0]))
                for x in range(j * m, min(j * m + m, outs[1]))
            ]
            least = np.min(read, axis=0)
            far[:, i, j] = ~((square <= limit) & (square <= (allowed * least) ** 2))
    return far


def far_tiles(padded: Tensor, outs: Sequence[int], sizes: tuple[int, int], limit: Tensor) -> Tensor:
    """The same as a tensor [N, tiles] of 0 and 1, tiles counted row after row.

    Stages: magnitudes, sums of channels at the same place of their blocks; square_columns, squares, of a tile's rows
    and then of it; turned, sums, of all channels, vectors of pixels in the place of vectors of channels; least_rows,
    least, of the windows of a tile; far.
    """
    n, chunks, height, width, inner = padded.shape
    part = part_of(chunks)
    wide = -(-width // inner) * inner  # whole vectors of pixels
    padded = te.pad(padded, [0] * 5, [0, 0, 0, wide - width, 0])
    c = te.reduce_axis(part, "c")

    def magnitudes_of(n: Index, g: Index, y: Index, x: Index, ci: Index) -> Any:
        return te.sum(te.abs(padded[n, g * part + c, y, x, ci]), c)

    magnitudes = te.compute((n, chunks // part, height, wide, inner), magnitudes_of, "magnitudes")
    squares = _squares(magnitudes, width, outs, sizes)
    least = _least_sums(magnitudes, outs, sizes)

    def far_of(n: Index, t: Index) -> Any:
        most = least[n, t] * tolerance(chunks * inner)
        near = te.all(squares[n, t] <= limit[()], squares[n, t] <= most * most)
        return te.select(near, te.const(0, "int32"), te.const(1, "int32"))

    return te.compute(least.shape, far_of, "far")


def _squares(magnitudes: Tensor, width: int, outs: Sequence[int], sizes: tuple[int, int]) -> Tensor:
    """|x|^2 of each tile, [N, tiles]: of its rows and then of it. The data is `width` pixels wide."""
    m, a = sizes[0], sum(sizes) - 1  # rows of outputs and of inputs
    down, across = (-(-o // m) for o in outs)
    n, parts, _, _, inner = magnitudes.shape
    ci = te.reduce_axis(inner, "ci")

    def square_columns_of(n: Index, ty: Index, x: Index, ci: Index) -> Any:
        values = [magnitudes[n, g, ty * m + r, x, ci] for g in range(parts) for r in range(a)]
        return _total([v * v for v in values])

    square_columns = te.compute((n, down, width, inner), square_columns_of, "square_columns")

    def squares_of(n: Index, t: Index) -> Any:
        return te.sum(_total([square_columns[n, t // across, t % across * m + s, ci] for s in range(a)]), ci)

    return te.compute((n, down * across), squares_of, "squares")


def _least_sums(magnitudes: Tensor, outs: Sequence[int], sizes: tuple[int, int]) -> Tensor:
    """The least sum of magnitudes that an output of each tile reads, [N, tiles]."""
    m, k = sizes
    down, across = (-(-o // m) for o in outs)
    n, parts, height, wide, inner = magnitudes.shape
    infinite = float("inf")
    ci = te.reduce_axis(inner, "ci")

    def turned_of(n: Index, y: Index, ci: Index, x: Index) -> Any:
        return _total([magnitudes[n, g, y, x, ci] for g in range(parts)])

    turned = te.compute((n, height, inner, wide), turned_of, "turned")

    def sums_of(n: Index, y: Index, x: Index) -> Any:
        return te.sum(turned[n, y, ci, x], ci)

    sums = te.compute((n, height, wide), sums_of, "sums")

    def least_rows_of(n: Index, ty: Index, x: Index) -> Any:
        windows = [_total([sums[n, ty * m + i + r, x + s] for r in range(k) for s in range(k)]) for i in range(m)]
        return _least([te.if_then_else(ty * m + i < outs[0], w, infinite) for i, w in enumerate(windows)])

    least_rows = te.compute((n, down, across * m), least_rows_of, "least_rows")

    def least_of(n: Index, t: Index) -> Any:
        ty, tx = t // across, t % across
        windows = [least_rows[n, ty, tx * m + j] for j in range(m)]
        return _least([te.if_then_else(tx * m + j < outs[1], w, infinite) for j, w in enumerate(windows)])

    return te.compute((n, down * across), least_of, "least")


def _total(parts: Sequence[Any]) -> Any:
    result = parts[0]
    for part in parts[1:]:
        result = result + part
    return result


def _least(parts: Sequence[Any]) -> Any:
    result = parts[0]
    for part in parts[1:]:
        result = te.select(result < part, result, part)
    return result
