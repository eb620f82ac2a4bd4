"""Families of schedule primitives: what their ops share in operands, text and checks."""

from __future__ import annotations

import abc
from typing import Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.nest.recurrence import check_at_once
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.primitive import (
    LOOP,
    LoopPrimitiveOp,
    PrimitiveOp,
    parse_at,
    parse_count,
    parse_loop,
    print_at,
)
from lamina.dialects.tir.limits import MAX_LANES, MAX_UNROLLED
from lamina.dialects.tir.ops import ForOp


class StageLoopsBase(PrimitiveOp):
    """Base of the primitives that name a stage and give its loops: `%i, %j = te.loops "A" [2]`."""

    stage = prop_def(StringAttr)
    loops = var_result_def(LOOP)

    @classmethod
    def make(cls, stage: str, count: int) -> Self:
        return cls.create(properties={"stage": StringAttr(stage)}, result_types=[LOOP] * count)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls.make(parser.parse_str_literal("the stage's name"), parse_count(parser))


class PlacementBase(PrimitiveOp, abc.ABC):
    """Base of compute_at and reverse_compute_at: `%a, %b = te.compute_at "pad" at %y [2]`."""

    stage = prop_def(StringAttr)
    loop = operand_def(LOOP)
    loops = var_result_def(LOOP)

    @classmethod
    def make(cls, stage: str, loop: SSAValue, count: int) -> Self:
        return cls.create(operands=[loop], properties={"stage": StringAttr(stage)}, result_types=[LOOP] * count)

    def print(self, printer: Printer) -> None:
        print_at(printer, self.stage.data, self.loop)
        printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        stage, loop = parse_at(parser, "the stage's name")
        return cls.make(stage, loop, parse_count(parser))


class LoopListBase(LoopPrimitiveOp, abc.ABC):
    """Text of primitives that take loops and give none or one: `te.reorder %a, %b`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        loops = unresolved or []
        operands = parser.resolve_operands(loops, [LOOP] * len(loops), parser.pos)
        return cls.create(operands=operands, result_types=[LOOP] * len(cls.get_irdl_definition().results))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)


class LoopKindBase(PrimitiveOp, abc.ABC):
    """Base of the primitives that say how a loop runs."""

    loop = operand_def(LOOP)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls.create(operands=[parse_loop(parser)])

    @classmethod
    def make(cls, loop: SSAValue) -> Self:
        return cls.create(operands=[loop])


def mark(loop: ForOp, primitive: str, kind: str, reductions: bool) -> None:
    """Let a loop run in a way; `reductions` says whether one may. Raises ScheduleError where it cannot."""
    if loop.thread is not None:
        raise ScheduleError(f"{primitive} of {loop.axis.data!r}: it is bound to {loop.thread.data}")
    if kind == "vectorized" and loop.is_dynamic:
        raise ScheduleError(
            f"vectorize of {loop.axis.data!r}: its extent is known only at run time; split it by a number first"
        )
    if kind == "vectorized" and loop.trip > MAX_LANES:
        raise ScheduleError(
            f"vectorize of {loop.axis.data!r}: {loop.trip} iterations, a vector has at most {MAX_LANES} lanes; "
            "split it first"
        )
    if kind == "unrolled" and not loop.is_dynamic and loop.trip > MAX_UNROLLED:
        raise ScheduleError(
            f"unroll of {loop.axis.data!r}: {loop.trip} iterations, at most {MAX_UNROLLED} are written out; "
            "split it first"
        )
    if loop.is_reduction and not reductions and loop.trip > 1:
        refuse(
            f"{primitive} of {loop.axis.data!r}: its iterations add into the same element, so they cannot run at once"
        )
    if not reductions:
        check_at_once(loop, primitive)
    loop.properties["kind"] = StringAttr(kind)
