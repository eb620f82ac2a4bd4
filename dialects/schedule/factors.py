"""Numbers of a schedule that may be sampled: `[%f0, 4, -1]`, written among the numbers that are known.

A sampling primitive gives values of type `!te.factor`. An op that takes factors keeps all of them in one property, with
`SAMPLED` in the places of its trailing operands, from the left.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, I64, DenseArrayBase, i64
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.index.linear import MAX_EXTENT
from lamina.dialects.schedule.primitive import ScheduleState

SAMPLED = DYNAMIC_INDEX


@irdl_attr_definition
class FactorType(ParametrizedAttribute, TypeAttribute):
    """A number that a sampling primitive draws."""

    name = "te.factor"


FACTOR = FactorType()


def factor_list(factors: Sequence[int | SSAValue]) -> tuple[DenseArrayBase[I64], list[SSAValue]]:
    """The property and the operands of factors."""
    numbers = [SAMPLED if isinstance(f, SSAValue) else f for f in factors]
    return DenseArrayBase.from_list(i64, numbers), [f for f in factors if isinstance(f, SSAValue)]


def verify_factors(factors: DenseArrayBase[I64], sampled: Sequence[SSAValue]) -> None:
    """Each sampled factor has its operand. Raises VerifyException."""
    if any(f > MAX_EXTENT for f in factors.get_values()):
        raise VerifyException(f"the factors {list(factors.get_values())}; one is at most {MAX_EXTENT}")
    if list(factors.get_values()).count(SAMPLED) != len(sampled):
        raise VerifyException(f"{len(sampled)} operands for the sampled ones of {list(factors.get_values())}")


def print_factors(printer: Printer, factors: DenseArrayBase[I64], sampled: Sequence[SSAValue]) -> None:
    """Print `[%f0, 4, -1]`: the operands stand in the places of the sampled factors, in order."""
    rest = iter(sampled)
    printer.print_string("[")
    for n, number in enumerate(factors.get_values()):
        printer.print_string(", " if n else "")
        if number == SAMPLED:
            printer.print_ssa_value(next(rest))
        else:
            printer.print_string(str(number))
    printer.print_string("]")


def parse_factors(parser: Parser) -> list[int | SSAValue]:
    """Parse `[%f0, 4, -1]`: numbers as integers, sampled factors as the values of type !te.factor."""

    def one() -> int | SSAValue:
        value = parser.parse_optional_unresolved_operand()
        if value is not None:
            return parser.resolve_operand(value, FACTOR)
        return parser.parse_integer(allow_boolean=False)

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, one)


def factor_values(state: ScheduleState, factors: DenseArrayBase[I64], sampled: Sequence[SSAValue]) -> list[int]:
    """The factors as numbers. Raises ScheduleError where one has not been drawn."""
    rest = iter(sampled)
    return [state.factor(next(rest)) if f == SAMPLED else int(f) for f in factors.get_values()]


def print_value(printer: Printer, value: Attribute | None, sampled: SSAValue | None) -> None:
    """` = 16`, or ` = %v` of a sampled number."""
    printer.print_string(" = ")
    if sampled is not None:
        printer.print_ssa_value(sampled)
    else:
        assert value is not None
        printer.print_attribute(value)


def parse_value(parser: Parser) -> Attribute | SSAValue:
    """The value that `print_value` writes."""
    parser.parse_punctuation("=")
    operand = parser.parse_optional_unresolved_operand()
    return parser.resolve_operand(operand, FACTOR) if operand is not None else parser.parse_attribute()
