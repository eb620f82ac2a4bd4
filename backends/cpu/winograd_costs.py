"""Costs of a 3x3 convolution in Winograd's tiles, and without."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from lamina.backends.cpu.costs import Costs
from lamina.dialects.choices import Estimate
from lamina.dialects.relay.windows import windows


def outputs(data: Sequence[int], padding: Sequence[int]) -> tuple[int, int]:
    """Rows and columns of the result."""
    rows, columns = windows(data[2:4], (3, 3), (1, 1), (1, 1), padding)
    return rows.outputs(), columns.outputs()


def products(rows: int, columns: int, tile: int) -> int:
    """Multiplications of one image, for a channel of the data and one of the result."""
    return (tile + 2) ** 2 * -(-rows // tile) * -(-columns // tile)


def cycles(
    data: Sequence[int], weight: Sequence[int], padding: Sequence[int], lanes: int, costs: Costs, others: int, tile: int
) -> float:
    """Estimated cycles of a convolution in tiles, or without (0)."""
    return estimate(data, weight, padding, lanes, costs, others, tile).cycles


def estimate(
    data: Sequence[int], weight: Sequence[int], padding: Sequence[int], lanes: int, costs: Costs, others: int, tile: int
) -> Estimate:
    """Expectation of it: multiplying, or reading the weights once, and the transforms of data and results, which are
    read and written whole; the bytes of weights, data, and what is transformed.

    `others` are the bytes of the model's other weights, which pass through the caches before these are read again.
    """
    rows, columns = outputs(data, padding)
    factors, places = prod(weight) // 9, (tile + 2) ** 2 if tile else 9
    size, image = 4 * places * factors, 4 * prod(data)
    multiplied = products(rows, columns, tile) if tile else 9 * rows * columns
    multiplying = data[0] * multiplied * factors / lanes / costs.figures.fma
    channels = prod(data) // (data[0] * data[2] * data[3])
    moved = data[0] * multiplied * (channels + factors // channels) / lanes if tile else 0.0
    moving = moved * (1 / costs.figures.load + 1 / costs.figures.store)
    streaming = size / costs.speed_again(size + others)
    return Estimate(max(multiplying, streaming) + moving, size + image + 4 * lanes * moved)
