"""cpu-pack-weights: lays constant weights of dense layers out in the order in which the micro-kernel reads them.

Before:
    %y = relay.nn.dense %x, %w : (tensor<1x64xf32>, tensor<40x64xf32>) -> tensor<1x40xf32>
After:
    %p = relay.layout_transform %w {dst_layout = "NK64n", src_layout = "NK"} : (...) -> tensor<1x64x64xf32>
    %y = relay.nn.contrib_dense_pack %x, %p {units = 40, weight_layout = "NK64n"} : (...) -> tensor<1x40xf32>

A block is some vectors of the target, read one after the other. relay-fold-constant then packs at compile time; rows
beyond the last are zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import ClassVar

from xdsl.utils.exceptions import VerifyException

from lamina.dialects import relay as r
from lamina.dialects.target import module_target
from lamina.dialects.terms import attr, computed, const, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rewriting import Rules

x = var("x")
w = const("w")
out = attr("out")


STREAM_VECTORS = 4
"""Vectors of a block when there is one row: the weights are read once, in one stream."""
TILE_VECTORS = 2
"""Vectors of a block when several rows share it: the width of the register tile."""


@computed
def rows(shape: tuple[int, ...]) -> int:
    return shape[0]


@computed
def is_vector(shape: tuple[int, ...]) -> bool:
    """Whether there is one row only."""
    return prod(shape[:-1]) == 1


@computed
def is_matrix(shape: tuple[int, ...]) -> bool:
    return prod(shape[:-1]) > 1


@cache
def packing(lanes: int) -> Rules:
    """dense(x, w) = dense_pack(x, w in blocks of so many rows)."""
    rules = Rules("cpu-pack-weights")
    for vectors, fits in ((STREAM_VECTORS, is_vector), (TILE_VECTORS, is_matrix)):
        layout = f"NK{vectors * lanes}n"
        packed = r.layout_transform(w, src_layout="NK", dst_layout=layout, channels=0)
        dense = r.nn.contrib_dense_pack(x, packed, units=rows(w.shape), weight_layout=layout, out_dtype=out)
        rules += (r.nn.dense(x, w, out_dtype=out) >> dense).when(fits(x.shape))
    return rules


pack_16 = packing(16)
"""The rules for 512-bit vectors of f32, where the equation tests find them."""


@dataclass(frozen=True)
class CpuPackWeights(ModulePass):
    """Lays constant weights of dense layers out in blocks of one vector."""

    name = "cpu-pack-weights"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        if target is None:
            raise VerifyException("cpu-pack-weights: the module names no 'lamina.target'")
        packing(target.lanes(32)).apply(op)
