"""Schedule primitives that take reductions apart."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState, parse_count


@irdl_op_definition
class RFactorOp(PrimitiveOp):
    """A reduction in two stages: each iteration of one of its loops reduces on its own, then the results are combined.

    Before: `for i: for ko: for ki in 4: C[i] += A[i, ko * 4 + ki]`
    After `te.rfactor "C" at %ki axis 0 [3]`: `for i: for ko: for ki in 4: R[ki, i] += A[i, ko * 4 + ki]`, then
    `for i: for ki in 4: C[i] += R[ki, i]`

    The nest that was there becomes the new stage `C.rf`, whose loops the primitive gives; the loops of `C` are new.
    """

    name = "te.rfactor"
    stage = prop_def(StringAttr)
    loop = operand_def(LOOP)
    axis = prop_def(IntegerAttr)
    loops = var_result_def(LOOP)

    @staticmethod
    def make(stage: str, loop: SSAValue, axis: int, count: int) -> RFactorOp:
        return RFactorOp.create(
            operands=[loop],
            properties={"stage": StringAttr(stage), "axis": IntegerAttr(axis, i64)},
            result_types=[LOOP] * count,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" at ")
        printer.print_ssa_value(self.loop)
        printer.print_string(f" axis {self.axis.value.data} [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> RFactorOp:
        stage = parser.parse_str_literal("the stage's name")
        parser.parse_keyword("at")
        loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        parser.parse_keyword("axis")
        axis = parser.parse_integer(allow_boolean=False)
        return cls.make(stage, loop, axis, parse_count(parser))

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.rfactor import rfactor

        state.bind(self.results, rfactor(state.func, self.stage.data, state.loop(self.loop), self.axis.value.data))


@irdl_op_definition
class DecomposeReductionOp(PrimitiveOp):
    """The initialisation of a reduction, in a stage `<stage>.init` of its own before one of its loops.

    Before: `for i: for k: C[i] (0 at first) += A[i, k]`
    After `te.decompose_reduction "C" at %k`: `for i: (C[i] = 0), (for k: C[i] += A[i, k])`
    """

    name = "te.decompose_reduction"
    stage = prop_def(StringAttr)
    loop = operand_def(LOOP)
    assembly_format = "$stage `at` $loop attr-dict"

    @staticmethod
    def make(stage: str, loop: SSAValue) -> DecomposeReductionOp:
        return DecomposeReductionOp.create(operands=[loop], properties={"stage": StringAttr(stage)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.decompose import decompose_reduction

        decompose_reduction(state.func, self.stage.data, state.loop(self.loop))
