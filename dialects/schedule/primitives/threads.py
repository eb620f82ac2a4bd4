"""Schedule primitives that put loops on the threads of a GPU."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.primitive import LOOP, LoopPrimitiveOp, ScheduleState


@irdl_op_definition
class BindOp(LoopPrimitiveOp):
    """The iterations of a loop on the threads along an axis: of the grid, of a block, or virtual ones.

    Before: `for i in 64: C[i] = A[i]`    After `te.bind %i "threadIdx.x"`: thread i of 64 does `C[i] = A[i]`

    A tail of the loop becomes a predicate of what stands in it. A reduction loop may be bound to an axis of a block:
    its threads then add up their parts.
    """

    name = "te.bind"
    loop = operand_def(LOOP)
    thread = prop_def(StringAttr)

    @staticmethod
    def make(loop: SSAValue, thread: str) -> BindOp:
        return BindOp.create(operands=[loop], properties={"thread": StringAttr(thread)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" ")
        printer.print_string_literal(self.thread.data)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> BindOp:
        loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        return cls.make(loop, parser.parse_str_literal("the thread axis"))

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.threads import bind

        bind(state.loop(self.loop), self.thread.data)
