"""Interpolation along an axis: a product with a matrix that is known at compile time, for every mode of resizing.

Where each row of the matrix has few numbers, the product is a sum of so many gathers, each weighted.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.frontends.builder import RelayBuilder, Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_GATHERS = 4


def weights(
    at: NDArray[np.float64], extent: int, *, cubic: float | None = None, stretch: float = 1.0,
    exclude_outside: bool = False,
) -> NDArray[np.float64]:  # fmt: skip
    """The part that each input element has in each output element, at places on the input axis: [output, input].

    Linear, or by the cubic kernel with a parameter (R. Keys, Cubic convolution interpolation, 1981). `stretch` below 1
    widens the kernel, which is then normalised (antialiasing). Elements outside are those at the edge, or left out.
    """
    support = 1.0 if cubic is None else 2.0
    reach = int(np.ceil(support / stretch)) + 1
    taps = np.arange(-reach, reach + 1)
    centre = np.floor(at).astype(np.int64)
    index = centre[:, None] + taps[None, :]
    distance = np.abs(index - at[:, None]) * stretch
    part = np.clip(1 - distance, 0, 1) if cubic is None else _cubic(distance, cubic)
    if exclude_outside:
        part = np.where((index < 0) | (index >= extent), 0.0, part)
    if exclude_outside or stretch != 1:
        part = part / part.sum(1, keepdims=True)
    matrix = np.zeros((len(at), extent))
    np.add.at(matrix, (np.arange(len(at))[:, None], np.clip(index, 0, extent - 1)), part)
    return matrix


def _cubic(t: NDArray[np.float64], a: float) -> NDArray[np.float64]:
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


def along_axis(b: RelayBuilder, x: Value, axis: int, matrix: NDArray[Any]) -> Value:
    """The product of a matrix [output, input] with an axis of a tensor."""
    taps = int(np.count_nonzero(matrix, axis=1).max(initial=1))
    if taps <= MOST_GATHERS:
        return _weighted(b, x, axis, matrix, max(taps, 1))
    before, extent, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    w = b.constant(matrix.astype(x.dtype))
    if prod(after) == 1:
        rows = b.op("nn.dense", b.reshape(x, (prod(before), extent)), w, units=len(matrix))
        return b.reshape(rows, (*before, len(matrix), *after))
    stack = b.reshape(x, (prod(before), extent, prod(after)))
    left = b.reshape(w, (1, *matrix.shape))
    return b.reshape(b.op("nn.batch_matmul", left, stack, transpose_b=False), (*before, len(matrix), *after))


def _weighted(b: RelayBuilder, x: Value, axis: int, matrix: NDArray[Any], taps: int) -> Value:
    """The same where no row has more than so many numbers; places that a row has too many weigh nothing."""
    # A stable order of "is zero" brings the places of the numbers to the front, in their order.
    places = np.argsort(matrix == 0, axis=1, kind="stable")[:, :taps].astype(np.int64)
    parts = np.take_along_axis(matrix, places, axis=1).astype(x.dtype)
    column = [-1 if a == axis else 1 for a in range(x.rank)]
    total: Value | None = None
    for k in range(taps):
        term = b.op("take", x, b.constant(np.ascontiguousarray(places[:, k])), axis=axis, mode="clip")
        if np.any(parts[:, k] != 1):
            term = b.op("multiply", term, b.constant(np.ascontiguousarray(parts[:, k]).reshape(column)))
        total = term if total is None else b.op("add", total, term)
    assert total is not None
    return total
