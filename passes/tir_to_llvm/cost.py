"""About how many cycles ops take: enough to say how much of a loop is worth handing to another thread.

An op costs what its vectors cost, times the iterations of the loops around it. Registers are free: what is loaded from
them and stored there is not moved at all, and of the unrolled loops around a load from memory only those count that it
depends on, since the others find the value there. Caches, ports and latencies are left out. LSTM and GRU layers of 64
to 256 units take 0.7 to 1.2 times the cycles that are counted here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.fast_ir import type_of
from lamina.dialects.target import TargetAttr
from lamina.dialects.tir.calls import CallOp
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import BroadcastOp, ForOp

SLICE_CYCLES = 4_000
"""The least work of a thread, about a microsecond: taking it costs one or two hundred cycles, and being late by
one of them not much more."""
SLICE_BARRIERS = 2
"""The same by what a parallel loop costs on the target, where its text says that."""
UNKNOWN_TRIP = 16
"""Iterations of a loop whose extent only the run tells."""

_DEAR = ("arith.div", "arith.rem", "math.")
"""Names of what is not one instruction begin so."""
_DEAR_CYCLES = 10.0
_FMA = "math.fma"
_LOOP_CYCLES = 1.0
_FREE = ("arith.constant", "arith.bitcast", "tir.bitcast", "tir.index", "tir.condition")


def cycles(ops: Iterable[Operation], vector_bits: int) -> float:
    """The cost of ops that stand in a row, on a machine with vectors of so many bits."""
    return _Count(vector_bits).row(ops, {})


class _Count:
    def __init__(self, vector_bits: int) -> None:
        self.vector_bits = vector_bits

    def row(self, ops: Iterable[Operation], unrolled: Mapping[SSAValue, int]) -> float:
        """The cost of ops in all iterations of the unrolled loops around them, whose variables and trips are given."""
        total = 0.0
        times = prod(unrolled.values())
        for op in ops:
            if isinstance(op, ForOp):
                trip = UNKNOWN_TRIP if op.is_dynamic else op.trip
                body = op.body.block.ops
                if op.is_unrolled:
                    total += self.row(body, {**unrolled, op.var: trip})
                else:
                    total += times * trip * (self.row(body, {}) + _LOOP_CYCLES)
            elif op.regions:
                total += sum(self.row(block.ops, unrolled) for region in op.regions for block in region.blocks)
            elif isinstance(op, LoadOp):
                total += self.load(op, unrolled, times)
            elif not isinstance(op, AllocOp) and not op.name.startswith(_FREE):
                total += times * self.plain(op)
        return total

    def load(self, op: LoadOp, unrolled: Mapping[SSAValue, int], times: int) -> float:
        """Two scalars are read in a cycle, or one vector."""
        if _is_register(op.buffer):
            return 0.0
        indices = set(op.index_operands())
        if not any(isinstance(v.owner, Operation) for v in indices):
            times = prod(trip for variable, trip in unrolled.items() if variable in indices)
        type_ = type_of(op.results[0])
        return times * (_vectors(type_, self.vector_bits) if type(type_) is VectorType else 0.5)

    def plain(self, op: Operation) -> float:
        if isinstance(op, StoreOp):
            return 0.0 if _is_register(op.buffer) else _vectors(type_of(op.operands[0]), self.vector_bits)
        vectors = max((_vectors(type_of(v), self.vector_bits) for v in op.results), default=1)
        if op.name == _FMA:
            return vectors
        if isinstance(op, CallOp) or op.name.startswith(_DEAR):
            return _DEAR_CYCLES * vectors
        if isinstance(op, BroadcastOp) and isinstance(op.value.owner, LoadOp):
            return 0.0  # one instruction reads it into all lanes
        return 0.5 * vectors


def _is_register(buffer: SSAValue) -> bool:
    return isinstance(buffer.owner, AllocOp) and buffer.owner.scope.data == "register"


def _vectors(type_: Attribute, vector_bits: int) -> int:
    """The registers that a value takes."""
    if type(type_) is not VectorType:
        return 1
    element = type_.element_type
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 64
    return max(-(-type_.element_count() * bits // vector_bits), 1)


def slice_cycles(target: TargetAttr | None) -> float:
    """The least work of a thread of a target, in cycles."""
    barrier = None if target is None else target.figure("barrier")
    return SLICE_CYCLES if barrier is None else SLICE_BARRIERS * barrier


def grain_of(extent: int, cost: float, least: float) -> int:
    """The least number of iterations of a parallel loop that a thread takes: from the cost of one, and its least work,
    in cycles."""
    return max(1, min(extent, round(least / max(cost, 1.0))))
