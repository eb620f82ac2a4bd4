"""About how many cycles ops take: enough to say how much of a loop is worth handing to another thread.

An op costs what its vectors cost, times the iterations of the loops around it. Caches, ports and latencies are left
out: what matters is whether an iteration takes ten cycles or ten thousand.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import FixedBitwidthType, VectorType
from xdsl.ir import Attribute, Operation

from lamina.dialects.fast_ir import type_of
from lamina.dialects.tir.calls import CallOp
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import ForOp

SLICE_CYCLES = 10_000
"""What a thread takes at least, some three microseconds: taking it costs one or two hundred cycles, and being late by
one of them not much more."""
UNKNOWN_TRIP = 16
"""Iterations of a loop whose extent only the run tells."""

_DEAR = ("arith.div", "arith.rem", "math.", "tir.call")
"""Names of what is not one instruction begin so."""
_DEAR_CYCLES = 10.0
_LOOP_CYCLES = 1.0
_FREE = ("arith.constant", "tir.index", "tir.condition")


def cycles(ops: Iterable[Operation], vector_bits: int) -> float:
    """The cost of ops that stand in a row, on a machine with vectors of so many bits."""
    total = 0.0
    for op in ops:
        if isinstance(op, ForOp):
            trip = UNKNOWN_TRIP if op.is_dynamic else op.trip
            total += trip * (cycles(op.body.block.ops, vector_bits) + (0 if op.is_unrolled else _LOOP_CYCLES))
        elif op.regions:
            total += sum(cycles(block.ops, vector_bits) for region in op.regions for block in region.blocks)
        elif not isinstance(op, AllocOp) and not op.name.startswith(_FREE):
            total += _cycles(op, vector_bits)
    return total


def _cycles(op: Operation, vector_bits: int) -> float:
    moved = [*op.operands[:1]] if isinstance(op, StoreOp) else op.results
    vectors = max((_vectors(type_of(v), vector_bits) for v in moved), default=1)
    if isinstance(op, CallOp) or op.name.startswith(_DEAR):
        return _DEAR_CYCLES * vectors
    return vectors if isinstance(op, (LoadOp, StoreOp)) else 0.5 * vectors


def _vectors(type_: Attribute, vector_bits: int) -> int:
    """The registers that a value takes."""
    if type(type_) is not VectorType:
        return 1
    element = type_.element_type
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 64
    return max(-(-type_.element_count() * bits // vector_bits), 1)


def grain_of(extent: int, cost: float) -> int:
    """How many iterations of a parallel loop a thread takes at least, from the cost of one."""
    return max(1, min(extent, round(SLICE_CYCLES / max(cost, 1.0))))
