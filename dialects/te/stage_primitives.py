"""Schedule primitives that move stages and choose where their results live."""

from __future__ import annotations

import abc
from typing import Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.te.primitive import LOOP, PrimitiveOp, ScheduleState, parse_count


class _Placement(PrimitiveOp, abc.ABC):
    """Base of compute_at and reverse_compute_at: `%a, %b = te.compute_at "pad" at %y [2]`."""

    stage = prop_def(StringAttr)
    loop = operand_def(LOOP)
    loops = var_result_def(LOOP)

    @classmethod
    def make(cls, stage: str, loop: SSAValue, count: int) -> Self:
        return cls.create(operands=[loop], properties={"stage": StringAttr(stage)}, result_types=[LOOP] * count)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" at ")
        printer.print_ssa_value(self.loop)
        printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        stage = parser.parse_str_literal("the stage's name")
        parser.parse_keyword("at")
        loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        return cls.make(stage, loop, parse_count(parser))


@irdl_op_definition
class ComputeAtOp(_Placement):
    """A producer computed inside a loop of its consumer, just what one iteration reads.

    Before: `for i: P[i]`, `for i: C[i] = P[i] + P[i+1]`    After: `for i: (for t in 2: P[t]), C[i] = P[0] + P[1]`
    """

    name = "te.compute_at"

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.regions import compute_at

        state.bind(self.results, compute_at(state.func, self.stage.data, state.loop(self.loop)))


@irdl_op_definition
class ReverseComputeAtOp(_Placement):
    """A consumer computed inside a loop of its producer, just what one iteration has finished.

    Before: `for i: P[i]`, `for i: C[i] = f(P[i])`    After: `for i: P, C[i] = f(P)`
    """

    name = "te.reverse_compute_at"

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.regions import reverse_compute_at

        state.bind(self.results, reverse_compute_at(state.func, self.stage.data, state.loop(self.loop)))


@irdl_op_definition
class ComputeInlineOp(PrimitiveOp):
    """A stage's equation in the place of each read of it.

    Before: `B[i] = A[i] + 1`, `C[i] = B[i] * 2`    After: `C[i] = (A[i] + 1) * 2`
    """

    name = "te.compute_inline"
    stage = prop_def(StringAttr)
    assembly_format = "$stage attr-dict"

    @staticmethod
    def make(stage: str) -> ComputeInlineOp:
        return ComputeInlineOp.create(properties={"stage": StringAttr(stage)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.inline import compute_inline

        compute_inline(state.func, self.stage.data)


@irdl_op_definition
class CacheReadOp(PrimitiveOp):
    """What one iteration of a loop reads of a tensor, read first into a buffer of its own.

    Before: `for k: C += W[k]`    After `te.cache_read "W" in "C" at %k scope "register" [1]`:
    `for k: (for t in 1: R[t] = W[k]), C += R[0]`
    """

    name = "te.cache_read"
    tensor = prop_def(StringAttr)
    stage = prop_def(StringAttr)
    scope = prop_def(StringAttr)
    loop = operand_def(LOOP)
    loops = var_result_def(LOOP)

    @staticmethod
    def make(tensor: str, stage: str, loop: SSAValue, scope: str, count: int) -> CacheReadOp:
        return CacheReadOp.create(
            operands=[loop],
            properties={"tensor": StringAttr(tensor), "stage": StringAttr(stage), "scope": StringAttr(scope)},
            result_types=[LOOP] * count,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.tensor.data)
        printer.print_string(" in ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" at ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" scope ")
        printer.print_string_literal(self.scope.data)
        printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> CacheReadOp:
        tensor = parser.parse_str_literal("the tensor's name")
        parser.parse_keyword("in")
        stage = parser.parse_str_literal("the stage's name")
        parser.parse_keyword("at")
        loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        parser.parse_keyword("scope")
        return cls.make(tensor, stage, loop, parser.parse_str_literal("the memory scope"), parse_count(parser))

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.caching import cache_read

        buffer = state.tensor(self.tensor.data)
        loops = cache_read(
            state.func, buffer, self.tensor.data, self.stage.data, state.loop(self.loop), self.scope.data
        )
        state.bind(self.results, loops)


@irdl_op_definition
class CacheWriteOp(PrimitiveOp):
    """A stage computed into a buffer of another scope, and copied out by a new stage `<stage>.out`.

    Before: `for i: C[i] = f`    After `te.cache_write "C" scope "register"`: `for i: R[i] = f`, `for i: C[i] = R[i]`
    """

    name = "te.cache_write"
    stage = prop_def(StringAttr)
    scope = prop_def(StringAttr)
    assembly_format = "$stage `scope` $scope attr-dict"

    @staticmethod
    def make(stage: str, scope: str) -> CacheWriteOp:
        return CacheWriteOp.create(properties={"stage": StringAttr(stage), "scope": StringAttr(scope)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.caching import cache_write

        cache_write(state.func, self.stage.data, self.scope.data)


@irdl_op_definition
class SetScopeOp(PrimitiveOp):
    """The memory that holds a stage: `register` keeps each element in an SSA value.

    Before: `tir.alloc "acc" scope "global"`    After `te.set_scope "acc" "register"`: `... scope "register"`
    """

    name = "te.set_scope"
    stage = prop_def(StringAttr)
    scope = prop_def(StringAttr)
    assembly_format = "$stage $scope attr-dict"

    @staticmethod
    def make(stage: str, scope: str) -> SetScopeOp:
        return SetScopeOp.create(properties={"stage": StringAttr(stage), "scope": StringAttr(scope)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.nest import ScheduleError, alloc_of, stage_buffers
        from lamina.dialects.tir.ops import SCOPES

        if self.scope.data not in SCOPES:
            raise ScheduleError(f"unknown memory scope {self.scope.data!r}; it is one of {', '.join(SCOPES)}")
        for alloc in [alloc_of(b, self.stage.data) for b in stage_buffers(state.func, self.stage.data)]:
            alloc.properties["scope"] = self.scope
