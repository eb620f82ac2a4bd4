"""Schedule primitives that change what a block is: one of several loops, or one over padded data."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState


@irdl_op_definition
class BlockizeOp(PrimitiveOp):
    """A loop with all that stands in it as one block.

    Before: `for i: for j: block "C"`    After `te.blockize %j "C_o"`: `for i: block "C_o" (for j: block "C")`

    `te.loops "C_o"` gives the loops around. What reorders, fuses or moves loops does not reach through the block.
    """

    name = "te.blockize"
    loop = operand_def(LOOP)
    block = prop_def(StringAttr)
    assembly_format = "$loop $block attr-dict"

    @staticmethod
    def make(loop: SSAValue, block: str) -> BlockizeOp:
        return BlockizeOp.create(operands=[loop], properties={"block": StringAttr(block)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.blockize import blockize

        blockize(state.loop(self.loop), self.block.data)


@irdl_op_definition
class PadEinsumOp(PrimitiveOp):
    """The loops of a contraction run to multiples, over copies of what it reads that zeros fill up.

    Before: `for i in 3: for k in 10: C[i] += A[i, k] * B[k]`
    After `te.pad_einsum "C" [1, 4]`: `for i in 3: for k in 12: P[i, k] = A[i, k] where k < 10`,
    `for k in 12: Q[k] = B[k] where k < 10`, `for i in 3: for k in 12: C[i] += P[i, k] * Q[k]`

    The copies are the stages `A.pad` and `B.pad`. Where a dimension of the result is padded, `C.out` copies the result.
    """

    name = "te.pad_einsum"
    stage = prop_def(StringAttr)
    padding = prop_def(DenseArrayBase.constr(i64))

    @staticmethod
    def make(stage: str, padding: Sequence[int]) -> PadEinsumOp:
        return PadEinsumOp.create(
            properties={"stage": StringAttr(stage), "padding": DenseArrayBase.from_list(i64, list(padding))}
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(f" {list(self.padding.get_values())}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> PadEinsumOp:
        stage = parser.parse_str_literal("the stage's name")
        padding = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        return cls.make(stage, padding)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.pad_einsum import pad_einsum

        pad_einsum(state.func, self.stage.data, [int(p) for p in self.padding.get_values()])
