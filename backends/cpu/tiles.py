"""Register tiles: how many output vectors a micro-kernel keeps while it walks the reduction.

A tile is `pixels` rows of `vectors` vectors. Every step of the reduction loads `vectors` weights, broadcasts one
value for each row and does pixels * vectors fused multiply-adds, so the tile should fill the registers but for the
weights and one broadcast. Of the tiles that fit, the one with the least estimated time for the whole row wins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from math import gcd
from typing import NamedTuple

from lamina.backends.cpu.costs import FITTED, Costs, for_target
from lamina.backends.cpu.open_extents import is_open
from lamina.dialects.target import TargetAttr

SIMILAR_TILES = 2
"""Tiles of as many vectors that are candidates."""


class Tile(NamedTuple):
    """Rows of results, and vectors in each of them, that a micro-kernel keeps in registers."""

    pixels: int
    vectors: int


@dataclass(frozen=True)
class RegisterFile:
    """The vector registers that a tile may take: every row its accumulators and `row` more, in all `free`."""

    free: int
    row: int = 0
    costs: Costs = FITTED
    """The figures of the machine whose registers these are."""

    def rows(self, vectors: int) -> int:
        """The most rows of a tile of so many vectors, at least 1."""
        reserve, most = self.costs.reserve, self.free // (vectors + self.row)
        if reserve.element:
            most = min(most, (self.free + reserve.registers - reserve.element) // vectors - 1)
        return max(most, 1)


def registers_of(target: TargetAttr) -> RegisterFile:
    """The registers of a machine that are left for tiles, so that none of them is spilled in the inner loop."""
    costs = for_target(target)
    return RegisterFile(max(target.registers.data - costs.reserve.registers, 1), costs.reserve.row, costs)


def busy_cycles(pixels: int, vectors: int, costs: Costs) -> float:
    """Cycles of a step of the reduction by what takes longest: multiply-adds, one that waits for another, or loads.

    An element that meets one vector is as good as an operand of the multiply-add, and so is a vector that meets one
    element; what meets several is loaded into a register of its own.
    """
    f = costs.figures
    if vectors == 1:
        operands = pixels / f.fma_broadcast
    else:
        operands = pixels / f.broadcast + vectors / (f.fma_load if pixels == 1 else f.load)
    return max(pixels * vectors / f.fma, f.latency, operands)


def step_cycles(pixels: int, vectors: int, costs: Costs) -> float:
    """Estimated cycles of a step of the reduction."""
    weights = costs.exposed_weights * weight_cycles(vectors, costs)
    return busy_cycles(pixels, vectors, costs) + costs.figures.step + weights


def weight_cycles(vectors: int, costs: Costs) -> float:
    """Cycles of reading the weights of a step from the second-level cache."""
    return vectors * costs.vector_bytes / costs.figures.l2_speed


def row_cycles(width: int, pixels: int, vectors: int, costs: Costs) -> float:
    """Estimated cycles of a reduction step for a whole row, by vector of output."""
    full, tail = divmod(width, pixels)
    cycles = full * step_cycles(pixels, vectors, costs) + (step_cycles(tail, vectors, costs) if tail else 0)
    return _penalized(cycles / vectors, tail, vectors, costs)


def _penalized(cycles: float, tail: int, vectors: int, costs: Costs) -> float:
    """The cycles of steps, and what tiles take longer than these where some rows are a tail or there is one vector."""
    return cycles * (costs.tail_penalty if tail else 1) * (costs.single_vector_penalty if vectors == 1 else 1)


def rows_in_cache(stride: int, costs: Costs) -> int:
    """The number of rows, `stride` bytes apart, of each of which the first-level cache holds a line."""
    period = costs.figures.l1_period
    return costs.figures.l1_ways * min(period // gcd(period, stride), period // costs.line_bytes)


def choose_pixels(width: int, vectors: int, registers: RegisterFile, stride: int = 0) -> int:
    """The rows of the tile, for a given number of vectors (`pixel_counts`)."""
    return pixel_counts(width, vectors, registers, stride)[0]


def pixel_counts(width: int, vectors: int, registers: RegisterFile, stride: int = 0) -> list[int]:
    """The rows that a tile may have, for a given number of vectors, the best by estimate first.

    Rows that lie apart, by `stride` bytes, are no more than those whose elements wait in the cache for the next steps.
    Of no rows a tile has one.
    """
    budget = registers.rows(vectors)
    budget = min(budget, rows_in_cache(stride, registers.costs)) if stride else budget
    return sorted(
        range(1, max(min(width, budget), 1) + 1), key=lambda p: (row_cycles(width, p, vectors, registers.costs), -p)
    )


def candidates(
    width: int, chunks: int, registers: RegisterFile, block: int = 1, load_cycles: float = 0.0
) -> list[Tile]:
    """Tiles for rows of `width` pixels and `chunks` vectors of output channels, the best by estimate first.

    `block` is the number of vectors that lie side by side in the weights; a tile takes whole blocks or whole parts.
    `load_cycles` is what reading a pixel takes beside the multiply-adds: with more vectors it is read less often.
    """
    tiles = [
        Tile(pixels, vectors)
        for vectors in registers.costs.tile_vectors
        if chunks % vectors == 0 and (vectors % block == 0 or block % vectors == 0)
        for pixels in pixel_counts(width, vectors, registers)[:SIMILAR_TILES]
    ]
    return sorted(tiles, key=lambda t: tile_cycles(t, width, registers.costs, load_cycles))


def tile_cycles(tile: Tile, width: int, costs: Costs, load_cycles: float = 0.0) -> float:
    """Estimated cycles of a reduction step for a whole row, by vector of output, with `load_cycles` for each pixel."""
    return row_cycles(width, *tile, costs) + load_cycles * width / tile.vectors


def product_pixels(rows: int, vectors: int, registers: RegisterFile, stride: int) -> int:
    """The rows of a product's tile, of the least estimated time."""
    return product_tiles(rows, vectors, registers, stride)[0].pixels


def product_tiles(rows: int, vectors: int, registers: RegisterFile, stride: int) -> list[Tile]:
    """A product's tiles of so many vectors, the best by estimate first.

    The weights of a step, all loaded before its broadcasts, have registers too. Of rows whose number only a run tells
    the first is one that has few of them left, mostly.
    """
    free = min(registers.free, max(registers.free + registers.costs.weight_registers - vectors, 1))
    beside = replace(registers, free=free)
    counts = pixel_counts(rows, vectors, beside, stride)
    if is_open(rows):
        near = [p for p in counts if p >= registers.costs.round_tile * counts[0]]
        rounded = max(near, key=lambda p: (p & -p, -counts.index(p)))
        counts = [rounded, *(p for p in counts if p != rounded)]
    return [Tile(pixels, vectors) for pixels in counts]


def choose_vectors(
    rows: int, columns: int, depth: int, lanes: int, registers: RegisterFile, itemsize: int = 4, padded: bool = True
) -> int:
    """The vectors of a product's tile: the least estimated time for all rows and columns.

    Padded columns are multiplied like the others; else the last tile of a row is as wide as what is left.
    """
    chunks, costs = -(-columns // lanes), registers.costs

    def cycles(vectors: int) -> float:
        pixels = product_pixels(rows, vectors, registers, depth * itemsize)
        return product_cycles(Tile(pixels, vectors), rows, chunks, costs, padded)

    return min(sorted(costs.tile_vectors, reverse=True), key=cycles)


def product_cycles(tile: Tile, rows: int, chunks: int, costs: Costs, padded: bool = True) -> float:
    """Estimated cycles of a step of a product's reduction for all rows and `chunks` vectors of columns."""

    def step(pixels: int, vectors: int) -> float:
        loads = costs.exposed_load_cycles * (pixels + vectors)
        busy = busy_cycles(pixels, vectors, costs)
        # A panel is one stream: what it takes up to half of the time is hidden.
        stream = max(weight_cycles(vectors, costs) - busy / 2, 0) / 2
        return busy + stream + 2 * costs.figures.step + loads

    def panel(vectors: int) -> float:
        full, tail = divmod(rows, tile.pixels)
        cycles = full * step(tile.pixels, vectors) + (step(tail, vectors) if tail else 0)
        return _penalized(cycles, tail, vectors, costs)

    full, tail = divmod(chunks, tile.vectors)
    if padded:
        full, tail = full + bool(tail), 0
    return full * panel(tile.vectors) + (panel(tail) * costs.last_panel_penalty if tail else 0)


@cache
def tail_pieces(tile: Tile, costs: Costs) -> tuple[int, ...]:
    """The pieces in which rows beyond whole tiles go where only a run tells how many there are, the largest first.

    Of those whose code has at most `costs.tail_rows` times the rows of a tile, the pieces that take least longer than
    a tile of just as many rows would, on average of all numbers of rows.
    """
    rows = range(1, tile.pixels)
    alone = [step_cycles(n, tile.vectors, costs) for n in (1, *rows)]

    def excess(sizes: tuple[int, ...]) -> float:
        total = 0.0
        for n in rows:
            left, cycles = n, 0.0
            for size in sizes:
                cycles += left // size * alone[size]
                left %= size
            total += cycles / alone[n]
        return total

    larger = [(*c[::-1], 1) for n in range(costs.tail_sizes) for c in combinations(rows[1:], n)]
    return min((sizes for sizes in larger if sum(sizes) <= max(tile.pixels * costs.tail_rows, 1)), key=excess)


def divisor(extent: int, most: int) -> int:
    """The largest divisor of an extent that is at most `most`."""
    return max(d for d in range(1, min(extent, most) + 1) if extent % d == 0)


def row_tile(width: int, most: int) -> int:
    """Pixels, or vectors of them, of a tile, `most` at most: few tiles, and no short one where that can be had."""
    tiles = -(-width // most)
    even = [p for p in range(most, most // 2, -1) if width % p == 0]
    return even[0] if even else -(-width // tiles)
