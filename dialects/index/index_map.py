"""Attributes that keep index arithmetic beside the op that uses it, and their inline text.

An access keeps its index operands once each and an `IndexMapAttr` over their positions, so that a loop variable
is substituted by rewriting one attribute. In custom syntax the dimensions print as SSA names:
`%X[%c, %y * 2 + %r] where [%y * 2 + %r - 1 >= 0]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.ir import Data, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer

from lamina.dialects.index.linear import Atom, Linear, constant, floordiv, linear_text, mod

LANE = "lane"
"""The dimension that numbers the elements of a vector, in maps of vectorized accesses."""


MAX_NUMBER = 1 << 62
"""Larger numbers overflow an index, whatever it is."""


class Condition(NamedTuple):
    """`form >= 0`, or `form == 0` when `equal`."""

    form: Linear
    equal: bool = False

    def decided(self, bounds: tuple[int, int] | None) -> bool | None:
        """Whether it holds for all values of a form within bounds, or for none; None where it depends."""
        if bounds is None:
            return None
        low, high = bounds
        if self.equal:
            return True if low == high == 0 else False if low > 0 or high < 0 else None
        return True if low >= 0 else False if high < 0 else None


class IndexMap(NamedTuple):
    """Index expressions over `dims` positional dimensions (and the lane)."""

    dims: int
    results: tuple[Linear, ...]


class IndexSet(NamedTuple):
    """Conditions, all of which hold, over `dims` positional dimensions (and the lane)."""

    dims: int
    conditions: tuple[Condition, ...]


def _dim_name(atom: Atom) -> str:
    return f"d{atom}" if isinstance(atom, int) else str(atom)


def _parse_dim_list(parser: AttrParser) -> dict[str, Atom]:
    parser.parse_punctuation("(")
    names: dict[str, Atom] = {LANE: LANE}
    if not parser.parse_optional_punctuation(")"):
        while True:
            names[parser.parse_identifier()] = len(names) - 1
            if not parser.parse_optional_punctuation(","):
                break
        parser.parse_punctuation(")")
    parser.parse_punctuation("->")
    return names


def _named_dims(parser: AttrParser, names: dict[str, Atom]) -> Callable[[], Linear | None]:
    def parse() -> Linear | None:
        name = parser.parse_optional_identifier()
        if name is None:
            return None
        if name not in names:
            parser.raise_error(f"unknown dimension {name!r}")
        return Linear.dim(names[name])

    return parse


@irdl_attr_definition
class IndexMapAttr(Data[IndexMap]):
    """`#te.map<(d0, d1) -> (d0 * 2 + d1, d1 floordiv 32)>`."""

    name = "te.map"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> IndexMap:
        with parser.in_angle_brackets():
            names = _parse_dim_list(parser)
            dim = _named_dims(parser, names)
            results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_linear(parser, dim))
            return IndexMap(len(names) - 1, tuple(results))

    def print_parameter(self, printer: Printer) -> None:
        dims, results = self.data
        text = ", ".join(linear_text(r, _dim_name) for r in results)
        printer.print_string(f"<({', '.join(f'd{i}' for i in range(dims))}) -> ({text})>")


@irdl_attr_definition
class IndexSetAttr(Data[IndexSet]):
    """`#te.set<(d0) -> (d0 - 1 ge 0, d0 == 0)>`: MLIR, which need not know te, takes the `>` of `>=` for the end."""

    name = "te.set"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> IndexSet:
        with parser.in_angle_brackets():
            names = _parse_dim_list(parser)
            dim = _named_dims(parser, names)
            conditions = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_condition(parser, dim))
            return IndexSet(len(names) - 1, tuple(conditions))

    def print_parameter(self, printer: Printer) -> None:
        dims, conditions = self.data
        text = ", ".join(condition_text(c, _dim_name, "ge") for c in conditions)
        printer.print_string(f"<({', '.join(f'd{i}' for i in range(dims))}) -> ({text})>")


def condition_text(condition: Condition, name: Callable[[Atom], str], at_least: str = ">=") -> str:
    """A condition as text, `d0 * 2 - 1 >= 0` or `d0 == 0`; `name` spells dimensions, `at_least` the sign >=."""
    return f"{linear_text(condition.form, name)} {'==' if condition.equal else at_least} 0"


# -- parsing: term {(+|-) term}, term: factor {(*|floordiv|mod) constant} --------------------------


def parse_linear(parser: AttrParser, dim: Callable[[], Linear | None]) -> Linear:
    """An index expression; `dim` parses one dimension or answers None."""
    total = _parse_term(parser, dim)
    while True:
        if parser.parse_optional_punctuation("+"):
            total = total + _parse_term(parser, dim)
        elif parser.parse_optional_punctuation("-"):
            total = total - _parse_term(parser, dim)
        else:
            # `%x -1` lexes as one negative literal
            literal = parser.parse_optional_integer(allow_boolean=False)
            if literal is None:
                return total
            if literal >= 0:
                parser.raise_error("expected an operator")
            total = total + literal


def _parse_term(parser: AttrParser, dim: Callable[[], Linear | None]) -> Linear:
    left = _parse_factor(parser, dim)
    while True:
        if parser.parse_optional_punctuation("*"):
            right = _parse_factor(parser, dim)
            if left.is_constant:
                left = right * left.const
            elif right.is_constant:
                left = left * right.const
            else:
                parser.raise_error("an index multiplies dimensions only by constants")
        elif parser.parse_optional_keyword("floordiv"):
            left = floordiv(left, _parse_divisor(parser))
        elif parser.parse_optional_keyword("mod"):
            left = mod(left, _parse_divisor(parser))
        else:
            return left


def _parse_divisor(parser: AttrParser) -> int:
    value = parser.parse_integer(allow_boolean=False)
    if not 0 < value <= MAX_NUMBER:
        parser.raise_error(f"the divisor of an index is a positive constant of at most {MAX_NUMBER}")
    return value


def _parse_factor(parser: AttrParser, dim: Callable[[], Linear | None]) -> Linear:
    if parser.parse_optional_punctuation("("):
        inner = parse_linear(parser, dim)
        parser.parse_punctuation(")")
        return inner
    if parser.parse_optional_punctuation("-"):
        return -_parse_factor(parser, dim)
    literal = parser.parse_optional_integer(allow_boolean=False)
    if literal is not None:
        if abs(literal) > MAX_NUMBER:
            parser.raise_error(f"a number of an index is at most {MAX_NUMBER}")
        return constant(literal)
    found = dim()
    if found is None:
        parser.raise_error("expected an index expression")
    return found


def parse_condition(parser: AttrParser, dim: Callable[[], Linear | None]) -> Condition:
    """`expr >= expr`, the same as `expr ge expr`, `expr == expr`, `expr <= expr`, `expr < expr` or `expr > expr`."""
    left = parse_linear(parser, dim)
    if parser.parse_optional_keyword("ge"):
        return Condition(left - parse_linear(parser, dim))
    for symbol in (">", "<", "="):
        if parser.parse_optional_punctuation(symbol):
            exact = bool(parser.parse_optional_punctuation("="))
            right = parse_linear(parser, dim)
            if symbol == "=":
                return Condition(left - right, True)
            form = left - right if symbol == ">" else right - left
            return Condition(form if exact else form - 1)
    parser.raise_error("expected a comparison")


# -- inline text in ops: dimensions print as SSA names ---------------------------------------------


class InlineDims:
    """Collects the SSA names of an op's inline index expressions as its index operands, each once.

    When all are read, `settle` forgets the names that have fallen out (`%i * 0`), which no printed text would have, and
    orders the others as a printed text names them first (`%i - %i + %j + %i`: `%j`, then `%i`).
    """

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.operands: list[UnresolvedOperand] = []
        self._positions: dict[tuple[str, int], int] = {}

    def __call__(self) -> Linear | None:
        operand = self.parser.parse_optional_unresolved_operand()
        if operand is None:
            return Linear.dim(LANE) if self.parser.parse_optional_keyword(LANE) else None
        key = (operand.operand_name, operand.index)
        position = self._positions.get(key)
        if position is None:
            position = self._positions[key] = len(self.operands)
            self.operands.append(operand)
        return Linear.dim(position)

    def settle(self, *groups: Sequence[Linear]) -> list[tuple[Linear, ...]]:
        """The expressions over the operands that are left, in the order in which the expressions are printed."""
        kept = [d for d in dict.fromkeys(d for forms in groups for f in forms for d in f.dims()) if isinstance(d, int)]
        if kept == list(range(len(self.operands))):
            return [tuple(forms) for forms in groups]
        self.operands = [self.operands[n] for n in kept]
        moved: dict[Atom, Linear] = {n: Linear.dim(k) for k, n in enumerate(kept)}
        return [tuple(f.substitute(moved) for f in forms) for forms in groups]

    def settle_conditions(self, conditions: Sequence[Condition]) -> tuple[Condition, ...]:
        """The same for conditions."""
        (forms,) = self.settle([c.form for c in conditions])
        return tuple(Condition(f, c.equal) for f, c in zip(forms, conditions, strict=True))


def operand_namer(printer: Printer, operands: Sequence[SSAValue]) -> Callable[[Atom], str]:
    """Names dimensions by the SSA names of the operands they stand for."""
    names: dict[int, str] = {}

    def name(atom: Atom) -> str:
        if not isinstance(atom, int):
            return str(atom)
        found = names.get(atom)
        if found is None:
            found = names[atom] = ssa_name(printer, operands[atom])
        return found

    return name


def ssa_name(printer: Printer, value: SSAValue) -> str:
    """The name under which the printer shows the value."""
    names = printer._ssa_values  # pyright: ignore[reportPrivateUsage]
    name = names.get(value)
    if name is None:  # used before its definition, as in a module that is being debugged
        name = names[value] = printer._get_new_valid_name_id()  # pyright: ignore[reportPrivateUsage]
    return f"%{name}"


def print_indices(printer: Printer, map_: IndexMap, operands: Sequence[SSAValue]) -> None:
    """`[%c, %y * 2 + %r]`."""
    name = operand_namer(printer, operands)
    printer.print_string("[" + ", ".join(linear_text(r, name) for r in map_.results) + "]")


def print_conditions(printer: Printer, set_: IndexSet, operands: Sequence[SSAValue]) -> None:
    """`[%y - 1 >= 0]`."""
    name = operand_namer(printer, operands)
    printer.print_string("[" + ", ".join(condition_text(c, name) for c in set_.conditions) + "]")
