"""Schedule primitives that move stages and choose where their results live."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import base, irdl_op_definition, operand_def, opt_operand_def, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState, parse_count


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
        from lamina.dialects.schedule.nest.attachment import attach
        from lamina.dialects.schedule.nest.groups import compute_group_at

        group = state.groups.get(self.stage.data)
        if group is not None:
            state.bind(self.results, compute_group_at(state.func, group, state.loop(self.loop), state.attached))
            return
        state.bind(self.results, attach(state.func, self.stage.data, state.loop(self.loop), state.attached))


@irdl_op_definition
class ReverseComputeAtOp(_Placement):
    """A consumer computed inside a loop of its producer, just what one iteration has finished.

    Before: `for i: P[i]`, `for i: C[i] = f(P[i])`    After: `for i: P, C[i] = f(P)`
    """

    name = "te.reverse_compute_at"

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.reverse_compute_at import reverse_compute_at

        state.bind(self.results, reverse_compute_at(state.func, self.stage.data, state.loop(self.loop)))
        state.attached[self.stage.data] = None


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
        from lamina.dialects.schedule.nest.inline import compute_inline

        compute_inline(state.func, self.stage.data)


@irdl_op_definition
class CacheReadOp(PrimitiveOp):
    """A buffered copy of what one iteration of a loop reads of a tensor, or of the whole tensor.

    Before: `for k: C += W[k]`    After `te.cache_read "W" in "C" at %k scope "register" [1]`:
    `for k: (for t in 1: R[t] = W[k]), C += R[0]`
    After `te.cache_read "W" in ["C", "D"] scope "shared"`: `for t: S[t] = W[t]`, `for k: C += S[k]`, D reads S too

    The copy is a stage called after the tensor and the scope: `W.register`, `W.shared`.
    """

    name = "te.cache_read"
    tensor = prop_def(StringAttr)
    stages = prop_def(ArrayAttr.constr(base(StringAttr)))
    scope = prop_def(StringAttr)
    loop = opt_operand_def(LOOP)
    loops = var_result_def(LOOP)

    @staticmethod
    def make(
        tensor: str, stages: str | Sequence[str], loop: SSAValue | None, scope: str, count: int = 0
    ) -> CacheReadOp:
        names = [stages] if isinstance(stages, str) else stages
        return CacheReadOp.create(
            operands=[] if loop is None else [loop],
            properties={
                "tensor": StringAttr(tensor),
                "stages": ArrayAttr([StringAttr(n) for n in names]),
                "scope": StringAttr(scope),
            },
            result_types=[LOOP] * count,
        )

    def readers(self) -> list[str]:
        """The stages that read the copy."""
        return [s.data for s in self.stages]

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.tensor.data)
        printer.print_string(" in ")
        names = self.readers()
        if len(names) == 1:
            printer.print_string_literal(names[0])
        else:
            with printer.in_square_brackets():
                printer.print_list(names, printer.print_string_literal)
        if self.loop is not None:
            printer.print_string(" at ")
            printer.print_ssa_value(self.loop)
        printer.print_string(" scope ")
        printer.print_string_literal(self.scope.data)
        if self.loop is not None or self.loops:
            printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> CacheReadOp:
        tensor = parser.parse_str_literal("the tensor's name")
        parser.parse_keyword("in")
        stages = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_str_literal("a stage's name")
        )
        if stages is None:
            stages = [parser.parse_str_literal("the stage's name")]
        loop = None
        if parser.parse_optional_keyword("at"):
            loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        parser.parse_keyword("scope")
        scope = parser.parse_str_literal("the memory scope")
        return cls.make(tensor, stages, loop, scope, parse_count(parser, loop is None))

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.caching import cache_read
        from lamina.dialects.schedule.nest.staging import cache_read_whole

        buffer, name, scope = state.tensor(self.tensor.data), self.tensor.data, self.scope.data
        if self.loop is not None:
            state.bind(self.results, cache_read(state.func, buffer, name, self.readers(), state.loop(self.loop), scope))
            return
        loops = cache_read_whole(state.func, buffer, name, self.readers(), scope)
        if self.results:
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
        from lamina.dialects.schedule.nest.caching import cache_write

        cache_write(state.func, self.stage.data, self.scope.data)


@irdl_op_definition
class SetScopeOp(PrimitiveOp):
    """The memory that holds a stage: `register` keeps each element in an SSA value where loops are unrolled.

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
        from lamina.dialects.schedule.nest.annotations import set_scope

        set_scope(state.func, self.stage.data, self.scope.data)
