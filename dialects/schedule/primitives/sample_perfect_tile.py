"""sample_perfect_tile: factors whose product is the extent of a loop, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.schedule.factors import FACTOR
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, ScheduleState, parse_count, parse_loop
from lamina.dialects.schedule.sampling import SamplingBase, parse_decision, parse_numbers, with_decision


@irdl_op_definition
class SamplePerfectTileOp(SamplingBase):
    """Factors whose product is the extent of a loop, the last of them at most `max_innermost`.

    Before: `for i in 32`
    After `%f0, %f1 = te.sample_perfect_tile %i [2] max_innermost 16 decision [8, 4]`: the same; then
    `te.split %i [%f0, %f1]` makes it `for io in 8: for ii in 4`
    """

    name = "te.sample_perfect_tile"
    loop = operand_def(LOOP)
    max_innermost = prop_def(IntegerAttr)
    decision = opt_prop_def(DenseArrayBase.constr(i64))
    factors = var_result_def(FACTOR)

    @staticmethod
    def make(
        loop: SSAValue,
        parts: int,
        max_innermost: int = 16,
        decision: Sequence[int] | None = None,
        knob: str | None = None,
    ) -> SamplePerfectTileOp:
        properties = with_decision({"max_innermost": IntegerAttr(max_innermost, i64)}, knob, decision)
        return SamplePerfectTileOp.create(operands=[loop], properties=properties, result_types=[FACTOR] * parts)

    def verify_(self) -> None:
        if self.max_innermost.value.data < 1:
            raise VerifyException("max_innermost is at least 1")
        if not self.factors:
            raise VerifyException("there is at least one factor")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(f" [{len(self.factors)}] max_innermost {self.max_innermost.value.data}")
        self.print_decision(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> SamplePerfectTileOp:
        loop = parse_loop(parser)
        parts = parse_count(parser)
        parser.parse_keyword("max_innermost")
        most = parser.parse_integer(allow_boolean=False)
        knob, decision = parse_decision(parser, parse_numbers)
        return cls.make(loop, parts, most, decision, knob)

    def apply(self, state: ScheduleState) -> None:
        loop = state.loop(self.loop)
        what = f"sample_perfect_tile of {loop.axis.data!r}"
        if loop.is_dynamic or loop.bounds:
            raise ScheduleError(f"{what}: its extent is not a constant")
        most, parts, extent = self.max_innermost.value.data, len(self.factors), max(loop.trip, 1)
        self.decide(perfect_tiles(extent, parts, most), lambda n: nth_perfect_tile(n, extent, parts, most))
        factors = self.decided()
        if len(factors) != parts or min(factors) < 1 or prod(factors) != extent:
            raise ScheduleError(f"{what}: the decision {factors} is not {parts} factors of {extent}")
        if len(factors) > 1 and factors[-1] > most:
            raise ScheduleError(f"{what}: the innermost factor {factors[-1]} exceeds {most}")
        state.factors.update(zip(self.factors, factors, strict=True))


@lru_cache(maxsize=4096)
def factorizations(extent: int, parts: int) -> int:
    """In how many ways a number is a product of so many factors, in order."""
    if parts == 1:
        return 1
    return sum(factorizations(extent // d, parts - 1) for d in divisors(extent))


def perfect_tiles(extent: int, parts: int, max_innermost: int) -> int:
    """In how many ways a number is a product of so many factors, the last at most `max_innermost` if there are two."""
    if parts == 1:
        return 1
    return sum(factorizations(extent // d, parts - 1) for d in divisors(extent) if d <= max_innermost)


@lru_cache(maxsize=1024)
def divisors(number: int) -> tuple[int, ...]:
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return tuple(dict.fromkeys([*small, *(number // d for d in reversed(small))]))


def nth_perfect_tile(number: int, extent: int, parts: int, max_innermost: int) -> list[int]:
    """One of the lists of factors whose product is the extent, the last at most `max_innermost`, by its number."""
    found: list[int] = []
    for left in range(parts - 1, 0, -1):
        for d in divisors(extent):
            if not found and d > max_innermost:
                continue
            count = factorizations(extent // d, left)
            if number < count:
                found.append(d)
                extent //= d
                break
            number -= count
    return [extent, *reversed(found)]
