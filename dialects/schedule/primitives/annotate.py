"""annotate: an attribute of a loop or a stage, for passes to act upon."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, irdl_op_definition, opt_operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.schedule.factors import FACTOR, parse_value, print_value
from lamina.dialects.schedule.nest.annotations import PRAGMA
from lamina.dialects.schedule.nest.edits import blocks_of, stage_block
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, LoopPrimitiveOp, ScheduleState, parse_loop
from lamina.dialects.tir.ops import FuncOp


@irdl_op_definition
class AnnotateOp(LoopPrimitiveOp):
    """An attribute of a loop, or of a stage: any name, any value.

    Before: `for i in 8: ...`    After `te.annotate %i "tiling" = "SSR"`: `for i in 8 {tiling = "SSR"}: ...`
    """

    name = "te.annotate"
    loop = opt_operand_def(LOOP)
    sampled = opt_operand_def(FACTOR)
    stage = opt_prop_def(StringAttr)
    key = prop_def(StringAttr)
    value = opt_prop_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @staticmethod
    def make(target: SSAValue | str, key: str, value: Attribute | SSAValue) -> AnnotateOp:
        properties: dict[str, Attribute] = {"key": StringAttr(key)}
        loops: list[SSAValue] = []
        sampled: list[SSAValue] = []
        if isinstance(target, str):
            properties["stage"] = StringAttr(target)
        else:
            loops.append(target)
        if isinstance(value, SSAValue):
            sampled.append(value)
        else:
            properties["value"] = value
        return AnnotateOp.build(operands=[loops, sampled], properties=properties)

    def verify_(self) -> None:
        if (self.loop is None) == (self.stage is None) or (self.sampled is None) == (self.value is None):
            raise VerifyException("te.annotate names a loop or a stage, and one value")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.loop is not None:
            printer.print_ssa_value(self.loop)
        elif self.stage is not None:
            printer.print_string_literal(self.stage.data)
        printer.print_string(" ")
        printer.print_string_literal(self.key.data)
        print_value(printer, self.value, self.sampled)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> AnnotateOp:
        stage = parser.parse_optional_str_literal()
        target = stage if stage is not None else parse_loop(parser)
        return cls.make(target, parser.parse_str_literal("the annotation's name"), parse_value(parser))

    def apply(self, state: ScheduleState) -> None:
        value = self.value if self.sampled is None else IntegerAttr(state.factor(self.sampled), i64)
        assert value is not None
        if self.loop is not None:
            annotate(state.loop(self.loop), self.key.data, value)
        elif self.stage is not None:
            annotate_stage(state.func, self.stage.data, self.key.data, value)


def annotate(op: Operation, key: str, value: Attribute) -> None:
    """Attach an attribute to a loop or block. Raises ScheduleError for a name that is none, or is a pragma's."""
    if not key:
        raise ScheduleError("annotate: an annotation has a name")
    if key.startswith(PRAGMA):
        raise ScheduleError(f"annotate: {key!r} is a pragma; use te.pragma with {key.removeprefix(PRAGMA)!r}")
    op.attributes[key] = value


def annotate_stage(func: FuncOp, stage: str, key: str, value: Attribute) -> None:
    """Attach an attribute to every block of a stage."""
    blocks = blocks_of(func).get(stage)
    if blocks is None:
        stage_block(func, stage)  # says which stages there are
        return
    for block in blocks:
        annotate(block, key, value)
