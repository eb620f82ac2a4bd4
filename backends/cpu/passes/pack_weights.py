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

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.tiles import RegisterFile, choose_vectors, divisor, registers_of
from lamina.dialects import relay as r
from lamina.dialects.infos import hint_of, is_always, tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import constant_value
from lamina.dialects.rules.terms import attr, computed, const, var
from lamina.dialects.target import module_target, target_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.draws import one_of, tensor
from lamina.passes.rules.rewriting import Rules

x = var("x")
w = const("w")
units, out = attr("units out")


@computed
def rows(shape: tuple[int, ...]) -> int:
    """The number of rows of a weight [N, K]: the units of the dense layer."""
    return shape[0]


@computed
def is_vector(shape: tuple[int, ...]) -> bool:
    """Whether there is one row only."""
    return is_always(prod(shape[:-1]), 1)


@computed
def is_tile(data: tuple[int, ...], weight: tuple[int, ...], lanes: int, registers: RegisterFile, vectors: int) -> bool:
    """Whether a tile of so many vectors is the one for the rows of the data and of the weight."""
    chosen = choose_vectors(hint_of(data[-2]), weight[0], weight[1], lanes, registers)
    return not is_always(prod(data[:-1]), 1) and chosen == vectors


DRAWN = {1: (4, 12), 2: (14, 32), 3: (8, 48), 4: (4, 64)}
"""Rows and columns of a product for which tiles are so wide, for the tests of the equations."""


@cache
def packing(lanes: int, registers: RegisterFile) -> Rules:
    """dense(x, w) = dense_pack(x, w in blocks of so many rows)."""
    rules = Rules("cpu-pack-weights")

    def dense_pack(vectors: int) -> Any:
        layout = f"NK{vectors * lanes}n"
        packed = r.layout_transform(w, src_layout="NK", dst_layout=layout, channels=0)
        dense = r.nn.contrib_dense_pack(x, packed, units=rows(w.shape), weight_layout=layout, out_dtype=out)
        return r.nn.dense(x, w, units=units, out_dtype=out) >> dense

    rules += dense_pack(registers.costs.stream_vectors).when(is_vector(x.shape))
    for vectors in registers.costs.tile_vectors:
        rule = dense_pack(vectors).when(is_tile(x.shape, w.shape, lanes, registers, vectors))
        if vectors in DRAWN:
            m, n = DRAWN[vectors]
            rule = rule.drawing(x=tensor(m, 7), w=tensor(n, 7), units=one_of(None, n))
        rules += rule
    return rules


pack_16 = packing(16, RegisterFile(28))
"""The rules for 512-bit vectors of f32 in 32 registers, where the equation tests find them."""


groups = Rules("cpu-pack-weights")


@groups.lower(r.nn.dense, r.nn.matmul)
def pack_groups(op: RelayOp) -> SSAValue | None:
    """The weight of a dense layer that the target has an instruction for, in groups of what this sums up at once.

    Before: `nn.dense(x, w)` of uint8 and int8    After: `nn.contrib_dense_pack(x, p)` with p in "NK64n4k"
    """
    target = target_of(op)
    if target is None:
        return None
    data, weight = (tensor_info(v.type) for v in op.operands)
    sums = tensor_info(op.results[0].type).dtype
    group = target.dot_products().get((data.dtype, weight.dtype, sums))
    attrs = attrs_of(op)
    if attrs.get("transpose_a") or group is None or constant_value(op.operands[1]) is None or data.shape[-1] % group:
        return None
    source = "NK" if attrs.get("transpose_b", True) else "KN"
    units = weight.shape[source.index("N")]
    block = group_block(hint_of(prod(data.shape[:-1])), units, target.has_short_vectors(), for_target(target))
    if not block:
        return None
    layout = f"NK{block}n{group}k"
    packed = r.layout_transform(op.operands[1], src_layout=source, dst_layout=layout, channels=0)
    return r.nn.contrib_dense_pack(op.operands[0], packed, units=units, weight_layout=layout, out_dtype=sums)


def group_block(rows: int, units: int, halves: bool, costs: Costs) -> int:
    """Units in a block of a weight in groups: some whole vectors, of 16 or half as many units; 0 where none are whole.

    `halves` says whether the target has its instructions for half a vector too.
    """
    lanes = 8 if halves and units % 16 else 16
    if units % lanes:
        return 0
    most = costs.group_stream_vectors if rows == 1 else costs.group_vectors
    return lanes * divisor(units // lanes, most)


@dataclass(frozen=True)
class CpuPackWeights(ModulePass):
    """Lays constant weights of dense layers out in blocks of some vectors."""

    name = "cpu-pack-weights"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        if target is None:
            raise VerifyException("cpu-pack-weights: the module names no 'lamina.target'")
        if target.dot_products():
            groups.apply(op)
        packing(target.lanes(32), registers_of(target)).apply(op)
