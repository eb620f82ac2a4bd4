"""Builds te.schedule IR from Python: one method for each primitive, handles in and out.

    s = Schedule(func)
    i, j, k = s.loops("C")
    io, ii = s.split(i, [-1, 8])
    s.reorder(io, j, k, ii)

It only records; `te-to-tir` applies. Loop counts follow from the function, so that every handle is there to name.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.dialects.te.ops import ComputeOp, FuncOp
from lamina.dialects.te.reduction_primitives import DecomposeReductionOp, RFactorOp
from lamina.dialects.te.schedule import (
    CacheReadOp,
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    FuseOp,
    LoopsOp,
    ParallelOp,
    PartitionOp,
    ReorderOp,
    ReverseComputeAtOp,
    ScheduleOp,
    SetScopeOp,
    SplitOp,
    UnrollOp,
    VectorizeOp,
)
from lamina.dialects.te.thread_primitives import BindOp


class Schedule:
    """A schedule under construction."""

    def __init__(self, func: FuncOp) -> None:
        self.func = func
        self.block = Block()
        self.rank = {op.stage.data: len(op.spatial) for op in func.body.block.ops if isinstance(op, ComputeOp)}
        self.dims: dict[str, list[str]] = {
            op.stage.data: [a.name_hint or f"i{n}" for n, a in enumerate(op.body.block.args)]
            for op in func.body.block.ops
            if isinstance(op, ComputeOp)
        }

    def build(self) -> ScheduleOp:
        """The te.schedule op."""
        return ScheduleOp.make(self.func.sym_name.data, Region(self.block))

    def _add(self, op: Operation, hints: Sequence[str] = ()) -> list[SSAValue]:
        self.block.add_op(op)
        for value, hint in zip(op.results, hints, strict=False):
            value.name_hint = hint if hint.isidentifier() else None
        return list(op.results)

    def loops(self, stage: str, suffix: str = "") -> list[SSAValue]:
        """The loops of a stage that has not been touched, spatial first."""
        names = [f"{n}{suffix}" for n in self.dims[stage]]
        return self._add(LoopsOp.make(stage, len(names)), names)

    def split(self, loop: SSAValue, factors: Sequence[int]) -> list[SSAValue]:
        hint = loop.name_hint or "i"
        ends = "oi" if len(factors) == 2 else "oabcdefg"
        return self._add(SplitOp.make(loop, factors), [f"{hint}{e}" for e in ends])

    def fuse(self, *loops: SSAValue) -> SSAValue:
        if len(loops) == 1:
            return loops[0]
        hint = "_".join(v.name_hint or "i" for v in loops)
        return self._add(FuseOp.create(operands=list(loops), result_types=[loops[0].type]), [hint])[0]

    def reorder(self, *loops: SSAValue) -> None:
        self._add(ReorderOp.create(operands=list(loops)))

    def vectorize(self, loop: SSAValue) -> None:
        self._add(VectorizeOp.make(loop))

    def unroll(self, loop: SSAValue) -> None:
        self._add(UnrollOp.make(loop))

    def parallel(self, loop: SSAValue) -> None:
        self._add(ParallelOp.make(loop))

    def partition(self, loop: SSAValue) -> None:
        self._add(PartitionOp.make(loop))

    def bind(self, loop: SSAValue, thread: str) -> None:
        self._add(BindOp.make(loop, thread))

    def compute_inline(self, stage: str) -> None:
        self._add(ComputeInlineOp.make(stage))

    def compute_at(self, stage: str, loop: SSAValue) -> list[SSAValue]:
        names = [f"{n}_at" for n in self.dims[stage]]
        return self._add(ComputeAtOp.make(stage, loop, len(names)), names)

    def reverse_compute_at(self, stage: str, loop: SSAValue) -> list[SSAValue]:
        """The consumer's loops: all its dimensions, those that its producer has one element of included."""
        names = [f"{n}_out" for n in self.dims[stage]]
        return self._add(ReverseComputeAtOp.make(stage, loop, len(names)), names)

    def cache_read(self, tensor: str, stage: str, loop: SSAValue, scope: str, loops: int) -> list[SSAValue]:
        names = [f"{tensor}{n}" for n in range(loops)]
        return self._add(CacheReadOp.make(tensor, stage, loop, scope, loops), names)

    def cache_write(self, stage: str, scope: str) -> str:
        """Returns the name of the stage that copies out."""
        self._add(CacheWriteOp.make(stage, scope))
        copy = f"{stage}.out"
        self.dims[copy] = self.dims[stage][: self.rank[stage]]
        self.rank[copy] = self.rank[stage]
        return copy

    def set_scope(self, stage: str, scope: str) -> None:
        self._add(SetScopeOp.make(stage, scope))

    def rfactor(self, stage: str, loop: SSAValue, axis: int, loops: int) -> tuple[str, list[SSAValue]]:
        """The name and the loops, of which there are as many as the stage had, of the stage of partial results."""
        name = f"{stage}.rf"
        return name, self._add(RFactorOp.make(stage, loop, axis, loops), [f"{stage}_rf{n}" for n in range(loops)])

    def decompose_reduction(self, stage: str, loop: SSAValue) -> str:
        """Returns the name of the stage that the start becomes."""
        self._add(DecomposeReductionOp.make(stage, loop))
        return f"{stage}.init"
