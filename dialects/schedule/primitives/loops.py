"""Schedule primitives that name a stage's loops, reshape them and say how they run."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.schedule.factors import (
    FACTOR,
    factor_list,
    factor_values,
    parse_factors,
    print_factors,
    verify_factors,
)
from lamina.dialects.schedule.families import LoopKindBase, LoopListBase, StageLoopsBase
from lamina.dialects.schedule.primitive import LOOP, LoopPrimitiveOp, ScheduleState


@irdl_op_definition
class LoopsOp(StageLoopsBase, LoopPrimitiveOp):
    """All loops of a stage as they stand, outermost first.

    Before: `for i: for j: A[i, j] = ...`    After: the same; `%i, %j = te.loops "A" [2]`
    """

    name = "te.loops"

    def apply(self, state: ScheduleState) -> None:
        state.bind(self.results, state.stage_loops(self.stage.data))


@irdl_op_definition
class SplitOp(LoopPrimitiveOp):
    """One loop as several, given their extents from the outside in (-1: whatever is needed).

    Before: `for i in 8`    After `te.split %i [2, 4]`: `for io in 2: for ii in 4`, with i = io * 4 + ii
    """

    name = "te.split"
    loop = operand_def(LOOP)
    sampled = var_operand_def(FACTOR)
    factors = prop_def(DenseArrayBase.constr(i64))
    parts = var_result_def(LOOP)

    @staticmethod
    def make(loop: SSAValue, factors: Sequence[int | SSAValue]) -> SplitOp:
        numbers, sampled = factor_list(factors)
        return SplitOp.create(
            operands=[loop, *sampled],
            properties={"factors": numbers},
            result_types=[LOOP] * len(factors),
        )

    def verify_(self) -> None:
        if len(self.parts) != len(self.factors.get_values()):
            raise VerifyException("one loop for each factor")
        verify_factors(self.factors, self.sampled)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" ")
        print_factors(printer, self.factors, self.sampled)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> SplitOp:
        loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        return cls.make(loop, parse_factors(parser))

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.edits import split

        loop = state.loop(self.loop)
        state.bind(self.results, split(loop, factor_values(state, self.factors, self.sampled)))


@irdl_op_definition
class TileOp(LoopPrimitiveOp):
    """Two nested loops split by their inner factors and interleaved.

    Before: `for y: for x`    After `te.tile %y, %x [4, 8]`: `for yo: for xo: for yi in 4: for xi in 8`
    """

    name = "te.tile"
    y = operand_def(LOOP)
    x = operand_def(LOOP)
    sampled = var_operand_def(FACTOR)
    factors = prop_def(DenseArrayBase.constr(i64))
    parts = var_result_def(LOOP)

    @staticmethod
    def make(y: SSAValue, x: SSAValue, factors: Sequence[int | SSAValue]) -> TileOp:
        numbers, sampled = factor_list(factors)
        return TileOp.create(
            operands=[y, x, *sampled],
            properties={"factors": numbers},
            result_types=[LOOP] * 4,
        )

    def verify_(self) -> None:
        verify_factors(self.factors, self.sampled)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list([self.y, self.x], printer.print_ssa_value)
        printer.print_string(" ")
        print_factors(printer, self.factors, self.sampled)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> TileOp:
        y = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        parser.parse_punctuation(",")
        x = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        factors = parse_factors(parser)
        if len(factors) != 2:
            parser.raise_error("te.tile takes two factors")
        return cls.make(y, x, factors)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.edits import tile

        fy, fx = factor_values(state, self.factors, self.sampled)
        state.bind(self.results, tile(state.loop(self.y), state.loop(self.x), (fy, fx)))


@irdl_op_definition
class ReorderOp(LoopListBase):
    """The order of loops in one perfect nest.

    Before: `for i: for j: for k`    After `te.reorder %k, %i`: `for k: for j: for i`
    """

    name = "te.reorder"
    loops = var_operand_def(LOOP)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.edits import reorder

        reorder([state.loop(v) for v in self.operands])


@irdl_op_definition
class FuseOp(LoopListBase):
    """Perfectly nested loops as one.

    Before: `for i in 2: for j in 4`    After `%f = te.fuse %i, %j`: `for f in 8`, with i = f floordiv 4, j = f mod 4
    """

    name = "te.fuse"
    loops = var_operand_def(LOOP)
    fused = result_def(LOOP)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.edits import fuse

        state.bind(self.results, [fuse([state.loop(v) for v in self.operands])])


@irdl_op_definition
class VectorizeOp(LoopKindBase, LoopPrimitiveOp):
    """The iterations of a loop as the lanes of vectors.

    Before: `for i in 16: C[i] = A[i]`    After: `C[lane] = A[lane]`, sixteen lanes at once
    """

    name = "te.vectorize"

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.edits import ScheduleError, accesses

        loop = state.loop(self.loop)
        if any(access.lanes is not None for access in accesses(loop)):
            raise ScheduleError(f"vectorize of {loop.axis.data!r}: a tensorized block inside has vectors already")
        self.mark(state, "vectorized", False)


@irdl_op_definition
class UnrollOp(LoopKindBase, LoopPrimitiveOp):
    """The iterations of a loop written out.

    Before: `for i in 2: f(i)`    After: `f(0); f(1)`
    """

    name = "te.unroll"

    def apply(self, state: ScheduleState) -> None:
        self.mark(state, "unrolled", True)


@irdl_op_definition
class ParallelOp(LoopKindBase, LoopPrimitiveOp):
    """The iterations of a loop on the threads of the pool.

    Before: `for i in 64: f(i)`    After: `f(0) ... f(63)` in any order, at once
    """

    name = "te.parallel"

    def apply(self, state: ScheduleState) -> None:
        self.mark(state, "parallel", False)


@irdl_op_definition
class PartitionOp(LoopKindBase):
    """The last iteration of a loop apart, so that the tails within have constant extents.

    Before: `for io in 3: for ii in 4 min [10 - io * 4]`    After `te.partition %io`:
    `for io in 2: for ii in 4`, then `for ii in 2` with io = 2

    Iterations of loops in it whose tails would be empty are left out.
    """

    name = "te.partition"

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.tails import partition

        partition(state.loop(self.loop))
