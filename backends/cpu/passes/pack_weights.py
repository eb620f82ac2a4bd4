"""cpu-pack-weights: lays constant weights of dense layers out in the order in which the micro-kernel reads them.

Before:
    %y = relay.nn.dense %x, %w : (tensor<1x64xf32>, tensor<40x64xf32>) -> tensor<1x40xf32>
After:
    %p = relay.layout_transform %w {dst_layout = "NK64n", src_layout = "NK"} : (...) -> tensor<1x64x64xf32>
    %y = relay.nn.contrib_dense_pack %x, %p {units = 40, weight_layout = "NK64n"} : (...) -> tensor<1x40xf32>

A block is the columns of a register tile (`backends/cpu/tiles.py`), some vectors of the target that are read one after
the other; with one row, as above, all the tile is one row of them. relay-fold-constant then packs at compile time; rows
beyond the last are zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, ClassVar

from xdsl.utils.exceptions import VerifyException

from lamina.backends.cpu.tiles import choose_vectors
from lamina.dialects import relay as r
from lamina.dialects.relay.base import TensorInfo
from lamina.dialects.target import module_target
from lamina.dialects.terms import attr, computed, const, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rewriting import Rules

x = var("x")
w = const("w")
units, out = attr("units out")

STREAM_VECTORS = 4
"""Vectors of a block when there is one row: the weights are read once, in one stream."""
TILE_VECTORS = (2, 3, 4, 1)
"""Vectors of a block when several rows share it: the width of the register tile."""


@computed
def rows(shape: tuple[int, ...]) -> int:
    return shape[0]


@computed
def is_vector(shape: tuple[int, ...]) -> bool:
    """Whether there is one row only."""
    return prod(shape[:-1]) == 1


@computed
def is_tile(data: tuple[int, ...], weight: tuple[int, ...], lanes: int, registers: int, vectors: int) -> bool:
    """Whether a tile of so many vectors is the one for the rows of the data and of the weight."""
    return prod(data[:-1]) > 1 and choose_vectors(data[-2], weight[0], weight[1], lanes, registers) == vectors


def matrix(rows: int, columns: int) -> Any:
    """Draws a matrix of this shape."""

    def draw(rng: Any) -> TensorInfo:
        return TensorInfo((rows, columns), "float64")

    return draw


def some_units(columns: int) -> Any:
    """Draws the number of units, which may be left out."""

    def draw(rng: Any) -> int | None:
        return columns if rng.integers(2) else None

    return draw


DRAWN = {1: (4, 12), 2: (14, 32), 3: (8, 48), 4: (4, 64)}
"""Rows and columns of a product for which tiles are so wide."""


@cache
def packing(lanes: int, registers: int) -> Rules:
    """dense(x, w) = dense_pack(x, w in blocks of so many rows)."""
    rules = Rules("cpu-pack-weights")

    def dense_pack(vectors: int) -> Any:
        layout = f"NK{vectors * lanes}n"
        packed = r.layout_transform(w, src_layout="NK", dst_layout=layout, channels=0)
        dense = r.nn.contrib_dense_pack(x, packed, units=rows(w.shape), weight_layout=layout, out_dtype=out)
        return r.nn.dense(x, w, units=units, out_dtype=out) >> dense

    rules += dense_pack(STREAM_VECTORS).when(is_vector(x.shape))
    for vectors in TILE_VECTORS:
        rule = dense_pack(vectors).when(is_tile(x.shape, w.shape, lanes, registers, vectors))
        m, n = DRAWN[vectors]
        rules += rule.drawing(x=matrix(m, 7), w=matrix(n, 7), units=some_units(n))
    return rules


pack_16 = packing(16, 32)
"""The rules for 512-bit vectors of f32 in 32 registers, where the equation tests find them."""


@dataclass(frozen=True)
class CpuPackWeights(ModulePass):
    """Lays constant weights of dense layers out in blocks of some vectors."""

    name = "cpu-pack-weights"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        if target is None:
            raise VerifyException("cpu-pack-weights: the module names no 'lamina.target'")
        packing(target.lanes(32), target.registers.data).apply(op)
