"""Register tiles: how many output vectors a micro-kernel keeps while it walks the reduction.

A tile is `pixels` rows of `vectors` vectors. Every step of the reduction loads `vectors` weights, broadcasts one
value for each row and does pixels * vectors fused multiply-adds, so the tile should fill the registers but for the
weights and one broadcast. Of the tiles that fit, the one with the least estimated time for the whole row wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from lamina.dialects.target import TargetAttr

FMA_LATENCY = 4
"""Cycles; a tile of fewer accumulators waits for itself."""
STEP_OVERHEAD = 1.5
"""Cycles of a reduction step beside its multiply-adds: loads that do not overlap, loop control."""
TAIL_PENALTY = 1.05
"""A tail is a second copy of the kernel: compile time and instruction cache."""

SINGLE_VECTOR_PENALTY = 1.06
"""With one vector each multiply-add brings its own broadcast, and the load ports are as busy as the multipliers."""

L1_WAYS = 8
"""Lines that a first-level cache holds of addresses that are equal modulo L1_PERIOD."""
L1_PERIOD = 4096
LINE = 64
"""Bytes of a cache line."""
BROADCASTS = 3
"""Registers, of those that a tile leaves, that its weights may take."""
LOAD_SHARE = 0.2
"""Cycles of a load, of which most run beside the multiply-adds."""
LAST_PANEL_PENALTY = 1.25
"""The last, narrower panel of a product's columns has a kernel and a loop of its own."""


MOST_VECTORS = 4
"""Vectors of the widest tile."""
SIMILAR_TILES = 2
"""Tiles of as many vectors that are candidates."""


class Tile(NamedTuple):
    pixels: int
    vectors: int


@dataclass(frozen=True)
class RegisterFile:
    """What a tile may take of the vector registers: every row its accumulators and `row` more, in all `free`."""

    free: int
    row: int = 0

    def rows(self, vectors: int) -> int:
        """The most rows of a tile of so many vectors, at least 1."""
        return max(self.free // (vectors + self.row), 1)


def registers_of(target: TargetAttr) -> RegisterFile:
    """The registers of a machine that are left for tiles, so that none of them is spilled in the inner loop.

    LLVM loads neighbouring weights, up to four vectors, together where the first of them is needed, and on machines
    without a multiply-add from memory neighbouring values of the data as well: what they take is not free.
    """
    registers = target.registers.data
    if target.triple.data.startswith(("aarch64", "arm64")):
        # A lane of a register is a factor: the values of each row for the next steps wait in one.
        return RegisterFile(max(registers - 7, 1), row=1)
    if registers >= 32:
        # AVX-512 broadcasts from memory inside the multiply-add: an eighth of the registers is left for weights.
        return RegisterFile(registers * 7 // 8)
    if target.has_feature("fma"):
        return RegisterFile(max(registers - 6, 1))
    # Products need a place before they are added.
    return RegisterFile(max(registers - 10, 1))


def step_cycles(pixels: int, vectors: int) -> float:
    return max(pixels * vectors, FMA_LATENCY) + STEP_OVERHEAD + 0.5 * vectors


def row_cycles(width: int, pixels: int, vectors: int) -> float:
    """Estimated cycles of a reduction step for a whole row, by vector of output."""
    full, tail = divmod(width, pixels)
    cycles = full * step_cycles(pixels, vectors) + (step_cycles(tail, vectors) if tail else 0)
    return cycles / vectors * (TAIL_PENALTY if tail else 1) * (SINGLE_VECTOR_PENALTY if vectors == 1 else 1)


def rows_in_cache(stride: int) -> int:
    """How many rows, so many bytes apart, the first-level cache holds a line of each."""
    return L1_WAYS * min(L1_PERIOD // gcd(L1_PERIOD, stride), L1_PERIOD // LINE)


def choose_pixels(width: int, vectors: int, registers: RegisterFile, stride: int = 0) -> int:
    """The rows of the tile, for a given number of vectors (`pixel_counts`)."""
    return pixel_counts(width, vectors, registers, stride)[0]


def pixel_counts(width: int, vectors: int, registers: RegisterFile, stride: int = 0) -> list[int]:
    """The rows that a tile may have, for a given number of vectors, the best by estimate first.

    Rows that lie apart, by `stride` bytes, are no more than those whose elements wait in the cache for the next steps.
    """
    budget = registers.rows(vectors)
    budget = min(budget, rows_in_cache(stride)) if stride else budget
    return sorted(range(1, min(width, budget) + 1), key=lambda p: (row_cycles(width, p, vectors), -p))


def candidates(
    width: int, chunks: int, registers: RegisterFile, block: int = 1, load_cycles: float = 0.0
) -> list[Tile]:
    """Tiles for rows of `width` pixels and `chunks` vectors of output channels, the best by estimate first.

    `block` is the number of vectors that lie side by side in the weights; a tile takes whole blocks or whole parts.
    `load_cycles` is what reading a pixel takes beside the multiply-adds: with more vectors it is read less often.
    """
    tiles = [
        Tile(pixels, vectors)
        for vectors in (2, 4, 1, 3)
        if chunks % vectors == 0 and (vectors % block == 0 or block % vectors == 0)
        for pixels in pixel_counts(width, vectors, registers)[:SIMILAR_TILES]
    ]
    return sorted(tiles, key=lambda t: row_cycles(width, *t) + load_cycles * width / t.vectors)


def product_pixels(rows: int, vectors: int, registers: RegisterFile, stride: int) -> int:
    """The rows of a product's tile, of the least estimated time."""
    return product_tiles(rows, vectors, registers, stride)[0].pixels


def product_tiles(rows: int, vectors: int, registers: RegisterFile, stride: int) -> list[Tile]:
    """A product's tiles of so many vectors, the best by estimate first.

    The weights of a step, all loaded before its broadcasts, have registers too.
    """
    beside = RegisterFile(min(registers.free, max(registers.free + BROADCASTS - vectors, 1)), registers.row)
    return [Tile(pixels, vectors) for pixels in pixel_counts(rows, vectors, beside, stride)]


def choose_vectors(
    rows: int, columns: int, depth: int, lanes: int, registers: RegisterFile, itemsize: int = 4, padded: bool = True
) -> int:
    """The vectors of a product's tile: the least estimated time for all rows and columns.

    Padded columns are multiplied like the others; else the last tile of a row is as wide as what is left.
    """
    chunks = -(-columns // lanes)

    def tile_cycles(pixels: int, vectors: int) -> float:
        return max(pixels * vectors, FMA_LATENCY) + 2 * STEP_OVERHEAD + LOAD_SHARE * (pixels + vectors)

    def panel_cycles(pixels: int, vectors: int) -> float:
        full, tail = divmod(rows, pixels)
        cycles = full * tile_cycles(pixels, vectors) + (tile_cycles(tail, vectors) if tail else 0)
        return cycles * (TAIL_PENALTY if tail else 1) * (SINGLE_VECTOR_PENALTY if vectors == 1 else 1)

    def cycles(vectors: int) -> float:
        pixels = product_pixels(rows, vectors, registers, depth * itemsize)
        full, tail = divmod(chunks, vectors)
        if padded:
            full, tail = full + bool(tail), 0
        cycles = full * panel_cycles(pixels, vectors)
        return cycles + (panel_cycles(pixels, tail) * LAST_PANEL_PENALTY if tail else 0)

    return min((4, 3, 2, 1), key=cycles)


def divisor(extent: int, most: int) -> int:
    """The largest divisor of an extent that is at most `most`."""
    return max(d for d in range(1, min(extent, most) + 1) if extent % d == 0)
