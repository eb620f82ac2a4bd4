"""Ops that carry index arithmetic, seen alike at te and tir: their index operands, maps and guards.

In a pass an index is a `Linear` over SSA values; on the op it is a map over operand positions. `forms` reads the one
from the other and `set_forms` writes it back, each value once and in order of first use.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import IndexType, VectorType, i1
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.irdl import IRDLOperation, prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.index.index_map import (
    Condition,
    IndexMap,
    IndexMapAttr,
    IndexSet,
    IndexSetAttr,
    InlineDims,
    parse_condition,
    parse_linear,
    print_conditions,
    print_indices,
)
from lamina.dialects.index.linear import Atom, Linear, Range

INDEX = IndexType()


def value_range(value: Atom) -> Range | None:
    """The bounds of a loop variable or of a compute's dimension; None for any other value."""
    if isinstance(value, BlockArgument):
        owner = value.block.parent_op()
        if owner is not None:
            bounds = getattr(owner, "argument_range", None)
            if bounds is not None:
                return bounds(value.index)
    elif value == "lane":
        return None
    return None


class RangeCache:
    """`value_range` remembered, with ranges added for values that have no owner yet (and for the lane)."""

    def __init__(self, known: dict[Atom, Range] | None = None) -> None:
        self._known: dict[Atom, Range | None] = dict(known or {})

    def __call__(self, value: Atom) -> Range | None:
        if value in self._known:
            return self._known[value]
        found = self._known[value] = value_range(value)
        return found


def over_values(forms: Sequence[Linear], values: Sequence[SSAValue]) -> list[Linear]:
    """Forms over positions as forms over the SSA values at those positions."""
    if len(forms) == 1 and not forms[0].terms:
        return list(forms)
    # A tuple of xDSL's has an item getter of Python.
    at = list(values)
    return [_at_positions(f, at) for f in forms]


def _at_positions(form: Linear, values: Sequence[SSAValue]) -> Linear:
    """A form with the values in the place of their positions: nothing can simplify."""
    if not form.terms:
        return form
    terms: dict[Atom, int] = {}
    count = len(values)
    for atom, coef in form.terms.items():
        if type(atom) is int and atom < count:
            value = values[atom]
            terms[value] = terms.get(value, 0) + coef
        elif type(atom) is tuple:
            kind, inner, divisor = atom
            terms[(kind, _at_positions(inner, values), divisor)] = coef
        else:
            terms[atom] = coef
    return Linear(terms, form.const)


def _to_positions(form: Linear, positions: dict[SSAValue, int]) -> Linear:
    """A form with positions in the place of values, each of which gets the next one where it has none."""
    if not form.terms:
        return form
    terms: dict[Atom, int] = {}
    for atom, coef in form.terms.items():
        kind = type(atom)
        if kind is tuple:
            division, inner, divisor = cast("tuple[str, Linear, int]", atom)
            terms[(division, _to_positions(inner, positions), divisor)] = coef
        elif kind is int or kind is str:
            terms[atom] = coef
        else:
            terms[positions.setdefault(cast(SSAValue, atom), len(positions))] = coef
    return Linear(terms, form.const)


def over_positions(groups: Sequence[Sequence[Linear]]) -> tuple[list[SSAValue], list[tuple[Linear, ...]]]:
    """The SSA values that forms use, each once, and the forms over their positions."""
    positions: dict[SSAValue, int] = {}
    forms = [tuple([_to_positions(f, positions) for f in g]) for g in groups]
    return list(positions), forms


# -- text ------------------------------------------------------------------------------------------


def verify_access(map_: IndexMap | None, guard: IndexSet | None, operands: int, rank: int) -> None:
    """An access has one index for each dimension and uses exactly its index operands."""
    if map_ is not None:
        if len(map_.results) != rank:
            raise VerifyException(f"{len(map_.results)} indices for rank {rank}")
        if map_.dims != operands:
            raise VerifyException(f"the index map has {map_.dims} dimensions, the op {operands} index operands")
    if guard is not None and guard.dims != operands:
        raise VerifyException(f"the guard has {guard.dims} dimensions, the op {operands} index operands")


def print_access(
    printer: Printer, buffer: SSAValue, indices: Sequence[SSAValue], map_: IndexMap, guard: IndexSet | None
) -> None:
    """`%X[%i, %j] where [%i >= 0]`."""
    printer.print_ssa_value(buffer)
    print_indices(printer, map_, indices)
    if guard is not None:
        printer.print_string(" where ")
        print_conditions(printer, guard, indices)


def parse_access(parser: Parser):  # noqa: ANN201
    """(buffer, index operands, {"map", "guard"}) of `%X[%i, %j] where [%i >= 0]`."""
    buffer = parser.parse_unresolved_operand()
    dims = InlineDims(parser)
    results = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_linear(parser, dims))
    conditions = None
    if parser.parse_optional_keyword("where"):
        conditions = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_condition(parser, dims))
    forms, guards = dims.settle(results, [c.form for c in conditions or ()])
    count = len(dims.operands)
    properties: dict[str, Attribute] = {"map": IndexMapAttr(IndexMap(count, forms))}
    if conditions:
        set_ = tuple(Condition(f, c.equal) for f, c in zip(guards, conditions, strict=True))
        properties["guard"] = IndexSetAttr(IndexSet(count, set_))
    return buffer, dims.operands, properties


# -- ops that compute with indices -------------------------------------------------------------------


def _verify_scalar(given: Attribute, wanted: Attribute) -> None:
    """The type, or a vector of it. Raises VerifyException."""
    element = given.element_type if type(given) is VectorType else given
    if element != wanted:
        raise VerifyException(f"gives {wanted}, or a vector of it, not {given}")


class _InlineOp(IRDLOperation, abc.ABC):
    """Base of the ops whose text is a list over their index operands, attributes and the type of the result."""

    indices = var_operand_def(INDEX)
    result = result_def()
    traits = traits_def(Pure())

    def _print_end(self, printer: Printer) -> None:
        """Print what stands behind the list."""
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @staticmethod
    def _parse_end(parser: Parser) -> tuple[dict[str, Attribute], Attribute]:
        """Parse what `_print_end` prints."""
        extra = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return extra, parser.parse_type()


class IndexOpBase(_InlineOp):
    """The value of an index expression: `te.index [%i * 2 + 1] : index`."""

    map = prop_def(IndexMapAttr)

    @classmethod
    def of(cls, form: Linear, lanes: int | None = None) -> Self:
        operands, (forms,) = over_positions([[form]])
        return cls.create(
            operands=operands,
            properties={"map": IndexMapAttr(IndexMap(len(operands), forms))},
            result_types=[INDEX if lanes is None else VectorType(INDEX, [lanes])],
        )

    def verify_(self) -> None:
        verify_access(self.map.data, None, len(self.indices), 1)
        _verify_scalar(self.result.type, INDEX)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_indices(printer, self.map.data, self.indices)
        self._print_end(printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        dims = InlineDims(parser)
        results = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_linear(parser, dims))
        extra, type_ = cls._parse_end(parser)
        (forms,) = dims.settle(results)
        operands = parser.resolve_operands(dims.operands, [INDEX] * len(dims.operands), parser.pos)
        map_ = IndexMapAttr(IndexMap(len(operands), forms))
        return cls.create(operands=operands, properties={"map": map_}, attributes=extra, result_types=[type_])


class ConditionOpBase(_InlineOp):
    """Whether all conditions hold: `te.condition [%i - 1 >= 0, %i == 0] : i1`."""

    set = prop_def(IndexSetAttr)

    @classmethod
    def of(cls, conditions: Sequence[Condition], lanes: int | None = None) -> Self:
        operands, (forms,) = over_positions([[c.form for c in conditions]])
        set_ = tuple(Condition(f, c.equal) for f, c in zip(forms, conditions, strict=True))
        return cls.create(
            operands=operands,
            properties={"set": IndexSetAttr(IndexSet(len(operands), set_))},
            result_types=[i1 if lanes is None else VectorType(i1, [lanes])],
        )

    def verify_(self) -> None:
        verify_access(None, self.set.data, len(self.indices), 0)
        _verify_scalar(self.result.type, i1)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_conditions(printer, self.set.data, self.indices)
        self._print_end(printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        dims = InlineDims(parser)
        conditions = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_condition(parser, dims))
        extra, type_ = cls._parse_end(parser)
        kept = dims.settle_conditions(conditions)
        operands = parser.resolve_operands(dims.operands, [INDEX] * len(dims.operands), parser.pos)
        set_ = IndexSetAttr(IndexSet(len(operands), kept))
        return cls.create(operands=operands, properties={"set": set_}, attributes=extra, result_types=[type_])
