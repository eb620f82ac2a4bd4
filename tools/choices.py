"""Writes the tables of choices by machine into `docs/machines.md`, from the estimates of the CPU's schedules.

    python -m tools.choices            rewrite the tables
    python -m tools.choices --check    exit 1 when they are out of date

A change of an estimate, of a figure of a processor or of a cost shows here for layers of real models.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.jit import named_target
from lamina.backends.cpu.passes.winograd import TILE_SIZES
from lamina.backends.cpu.schedules import attention, depthwise, pixel_rows
from lamina.backends.cpu.schedules.winograd import choose_rows
from lamina.backends.cpu.tiles import (
    Tile,
    candidates,
    choose_vectors,
    product_cycles,
    product_pixels,
    registers_of,
    tile_cycles,
)
from lamina.backends.cpu.winograd_costs import cycles
from lamina.dialects.target import TargetAttr
from tools.page_parts import ROOT, write_or_check

PAGE = ROOT / "docs" / "machines.md"
OTHERS = 100_000_000
"""Bytes of the other weights of a model: those of ResNet-50."""
MACHINES = ("x86-64-v2", "x86-64-v3", "znver4", "icelake-server", "aarch64")


def pointwise(target: TargetAttr, costs: Costs, width: int, channels: int, loads: float = 0.0) -> str:
    """The first two tiles of a 1x1 convolution, and the cycles of a step for a row of a vector of channels."""
    tiles = candidates(width, -(-channels // target.lanes(32)), registers_of(target), 1, loads)[:2]
    return ", ".join(f"{t.pixels}x{t.vectors} {tile_cycles(t, width, costs, loads):.1f}" for t in tiles)


def window(target: TargetAttr, costs: Costs, width: int, channels: int) -> str:
    """The same of a 3x3 convolution."""
    return pointwise(target, costs, width, channels, costs.exposed_load_cycles)


def product(target: TargetAttr, costs: Costs, rows: int, columns: int, depth: int) -> str:
    """The tiles of a product whose second factor is packed, and of one where it lies in rows."""
    lanes, registers, found = target.lanes(32), registers_of(target), list[str]()
    for padded in (True, False):
        vectors = choose_vectors(rows, columns, depth, lanes, registers, padded=padded)
        tile = Tile(product_pixels(rows, vectors, registers, 4 * depth), vectors)
        taken = product_cycles(tile, rows, -(-columns // lanes), costs, padded)
        found.append(f"{tile.pixels}x{tile.vectors} {taken:.0f}")
    return ", ".join(found)


def image(target: TargetAttr, costs: Costs, channels: int, side: int) -> str:
    """Thousands of cycles by the size of Winograd's tiles, and the rows of a block of the best ones."""
    lanes = target.lanes(32)
    chunks = channels // lanes
    data, weight = (1, chunks, side, side, lanes), (chunks, chunks, 3, 3, lanes, lanes)
    taken = {n: cycles(data, weight, (1, 1, 1, 1), lanes, costs, OTHERS, n) for n in (0, *TILE_SIZES)}
    said = ", ".join(f"{n}: {c / 1e3:.0f}" for n, c in taken.items())
    best = min(taken, key=lambda n: taken[n])
    if not best:
        return said
    tiles = -(-side // best)
    return f"{said}; {choose_rows(tiles, tiles, best + 2, (chunks, chunks), lanes, target)}"


def short_rows(target: TargetAttr, costs: Costs, height: int, vectors: int) -> str:
    """Rows of a tile of a depthwise convolution."""
    return str(depthwise.short_rows(height, vectors, costs))


def row_tile(target: TargetAttr, costs: Costs, width: int, most: int) -> str:
    """Pixels of a tile of a row."""
    return str(depthwise.row_tile(width, most))


def pixels(target: TargetAttr, costs: Costs, channels: int, height: int, width: int, stride: int) -> str:
    """The tile of a convolution of rows of pixels, and the cycles of its step."""
    if not target.has_feature("avx512vl"):
        return ""
    lanes, registers = target.lanes(32), target.registers.data
    tile = pixel_rows.choose_tile(channels, height, width, lanes, registers, costs, stride)
    return f"{'x'.join(map(str, tile))} {tile.cycles(costs, lanes, stride):.1f}"


def heads(target: TargetAttr, costs: Costs, rows: int, keys: int) -> str:
    """Loops of attention whose heads have 64 columns of 768."""
    block, chunk, scoring, mixing = attention.sizes(rows, keys, 768, 64, 4, target)
    return f"{block} of {chunk}, {scoring.pixels}x{scoring.vectors}, {mixing.pixels}x{mixing.vectors}"


class Section(NamedTuple):
    """A table: a row for each shape, a column for each machine."""

    says: str
    heading: str
    cell: Callable[..., str]
    shapes: tuple[tuple[int, ...], ...]

    def lines(self) -> Iterator[str]:
        """The table, with what it says."""
        targets = [named_target(machine) for machine in MACHINES]
        yield from (self.says, "", f"| {self.heading} | {' | '.join(MACHINES)} |", "|---" * (1 + len(targets)) + "|")
        for shape in self.shapes:
            cells = [self.cell(target, for_target(target), *shape) for target in targets]
            yield f"| {', '.join(map(str, shape))} | {' | '.join(cells)} |"
        yield ""


# Shapes are those of ResNet-50, Inception, SqueezeNet (13 pixels), MobileNet, BERT (128 rows), ViT (197), Swin (49), a
# classifier and a step of a language model (one row), and some that are no multiple of anything.
SECTIONS = (
    Section(
        "Tiles of 1x1 convolutions, pixels by vectors of channels, with the cycles that a step of the reduction takes\n"
        "for a row of a vector of channels; the better two:",
        "pixels of a row, channels", pointwise,
        ((56, 64), (56, 256), (28, 128), (28, 512), (14, 256), (14, 1024), (7, 512), (7, 2048), (13, 96), (1, 1000)),
    ),
    Section("The same of 3x3 convolutions:", "pixels of a row, channels", window,
            ((56, 64), (28, 128), (14, 256), (7, 512), (35, 96), (17, 192))),
    Section(
        "Products, rows by vectors of columns, with the cycles of a step for all of them; the second factor packed,\n"
        "and as it lies:", "rows, columns, depth", product,
        ((128, 768, 768), (128, 3072, 768), (128, 768, 3072), (197, 768, 768), (1, 1000, 2048), (1, 4096, 1024),
         (8, 512, 512), (49, 96, 96), (512, 512, 64), (100, 33, 70)),
    ),
    Section(
        "Convolutions of 3x3 in Winograd's tiles, beside 100 MB of other weights: thousands of cycles by the tile's\n"
        "size, 0 for none; rows of tiles in a block:", "channels, pixels of a side", image,
        ((64, 112), (64, 56), (128, 28), (256, 14), (512, 7), (512, 28), (96, 35)),
    ),
    Section("Depthwise convolutions, rows of a tile where rows are short:", "rows, vectors of a row", short_rows,
            ((7, 1), (14, 1), (14, 2), (28, 2), (12, 3), (5, 4), (56, 8))),
    Section("Pixels of a tile of a row:", "pixels of a row, most of a tile", row_tile,
            ((56, 8), (28, 8), (14, 8), (7, 8), (112, 7), (13, 4), (35, 6))),
    Section(
        "Convolutions of rows of pixels: channels, rows, vectors and lanes of a tile, with the cycles of its step:",
        "channels, rows, pixels of a row, stride", pixels,
        ((32, 112, 112, 2), (64, 112, 112, 2), (24, 28, 28, 1), (16, 80, 80, 1), (10, 14, 14, 1)),
    ),
    Section(
        "Attention: queries in a block, values that are mixed at a time, tiles of scores and of what is mixed:",
        "queries, keys", heads,
        ((49, 49), (128, 128), (197, 197), (300, 300), (384, 384), (512, 512), (1, 256), (700, 700), (1500, 1500)),
    ),
)  # fmt: skip


def tables() -> str:
    """All tables."""
    return "\n".join(line for section in SECTIONS for line in section.lines())


def main() -> int:
    """Write the tables, or say that they are out of date."""
    return write_or_check(PAGE, "tools.choices", tables())


if __name__ == "__main__":
    sys.exit(main())
