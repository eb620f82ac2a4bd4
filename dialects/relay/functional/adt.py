"""Algebraic data types: their declarations, construction and taking apart.

    relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }

    %l = relay.construct Cons(%h, %t) : (tensor<f32>, !relay.adt<@List, tensor<f32>>) -> !relay.adt<@List, tensor<f32>>
    %r = relay.match %l : !relay.adt<@List, tensor<f32>> -> tensor<f32> {
      case Cons(%first : tensor<f32>, Cons(_, _)) { ... relay.yield %first : tensor<f32> }
      case _ { ... }
    }

The cases of a match are tried in order and must cover every value, unless it says `partial`: then one that none fits
ends the run. A constructor is no function; where one is wanted, relay.fn makes it of relay.construct.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, SymbolNameConstraint, TupleType, UnitAttr
from xdsl.ir import BlockArgument, Region
from xdsl.irdl import IRDLOperation, var_region_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.relay.core import ProgramOp, fits, module_of, parse_types, print_argument, print_types, symbol
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.functional.adt_patterns import (
    Anything,
    Constructors,
    Fields,
    Made,
    Pattern,
    Variable,
    missing_case,
    parse_pattern,
    pattern_text,
    variable_types,
)
from lamina.dialects.relay.functional.control import verify_yield
from lamina.dialects.relay.value_types import AdtType, TypeVar, rebuild, substitute


@irdl_op_definition
class TypeOp(IRDLOperation):
    """The declaration of a data type: its type parameters, its constructors and what their fields are."""

    name = "relay.type"
    sym_name = prop_def(SymbolNameConstraint())
    parameters = prop_def(ArrayAttr[StringAttr])
    constructors = prop_def(ArrayAttr[ArrayAttr[Attribute]])
    """For each its name, then the types of its fields."""

    traits = traits_def(SymbolOpInterface())

    @staticmethod
    def make(name: str, parameters: Sequence[str], constructors: Constructors) -> TypeOp:
        listed = [ArrayAttr([StringAttr(c), *types]) for c, types in constructors.items()]
        return TypeOp.create(
            properties={
                "sym_name": StringAttr(name),
                "parameters": ArrayAttr(map(StringAttr, parameters)),
                "constructors": ArrayAttr(listed),
            }
        )

    def declared(self) -> dict[str, Sequence[Attribute]]:
        """The constructors with the types of their fields, as they stand here."""
        return {cast(StringAttr, c.data[0]).data: c.data[1:] for c in self.constructors}

    def instance(self, type_: AdtType) -> dict[str, Sequence[Attribute]]:
        """The constructors where the type parameters are those of a use."""
        names = [p.data for p in self.parameters]
        given = dict(zip(names, type_.arguments.data, strict=True))
        return {c: [substitute(t, given) for t in types] for c, types in self.declared().items()}

    def verify_(self) -> None:
        names = [p.data for p in self.parameters]
        if len(set(names)) != len(names):
            raise VerifyException(f"a type parameter of @{self.sym_name.data} is declared twice")
        if not self.constructors.data:
            raise VerifyException(f"@{self.sym_name.data} has no constructor")
        if any(not c.data or not isinstance(c.data[0], StringAttr) for c in self.constructors):
            raise VerifyException("a constructor is its name and the types of its fields")
        if len(self.declared()) != len(self.constructors):
            raise VerifyException(f"a constructor of @{self.sym_name.data} is declared twice")
        for types in self.declared().values():
            for type_ in types:
                self._verify_field(type_)

    def _verify_field(self, field: Attribute) -> None:
        names = [p.data for p in self.parameters]

        def look(t: Attribute) -> None:
            if isinstance(t, TypeVar) and t.label.data not in names:
                raise VerifyException(f"@{self.sym_name.data} has no type parameter {t.label.data}")
            if isinstance(t, AdtType) and module_of(self) is not None:
                find_type(self, t)

        rebuild(field, look)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.parameters:
            printer.print_string(f"<{', '.join(p.data for p in self.parameters)}>")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" {")
        with printer.indented():
            for n, (constructor, types) in enumerate(self.declared().items()):
                printer.print_string(",\n" if n else "\n")
                printer.print_string(constructor)
                if types:
                    with printer.in_parens():
                        printer.print_list(types, printer.print_attribute)
        printer.print_string("\n}")

    @classmethod
    def parse(cls, parser: Parser) -> TypeOp:
        name = parser.parse_symbol_name().data
        parameters = parser.parse_optional_comma_separated_list(parser.Delimiter.ANGLE, parser.parse_identifier)
        attributes = parser.parse_optional_attr_dict() if parser.parse_optional_keyword("attributes") else {}
        constructors: dict[str, Sequence[Attribute]] = {}

        def constructor() -> None:
            position = parser.pos
            label = parser.parse_identifier(" for the name of a constructor")
            if label in constructors:
                parser.raise_error(f"the constructor {label} is declared twice", position, parser.pos)
            types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            constructors[label] = types or ()

        parser.parse_comma_separated_list(parser.Delimiter.BRACES, constructor)
        made = cls.make(name, parameters or (), constructors)
        made.attributes.update(attributes)
        return made


def find_type(op: Operation, type_: AdtType) -> TypeOp:
    """The declaration of a data type in the module around an op. Raises VerifyException."""
    module = module_of(op)
    name = type_.adt.data
    found = symbol(module, name) if module is not None else None
    if not isinstance(found, TypeOp):
        raise VerifyException(f"there is no data type @{name} in the module")
    if len(found.parameters) != len(type_.arguments):
        raise VerifyException(f"@{name} has {len(found.parameters)} type parameters, {type_} gives another number")
    return found


@irdl_op_definition
class ConstructOp(ProgramOp):
    """A value of a data type, made of its fields by a constructor."""

    name = "relay.construct"
    constructor = prop_def(StringAttr)
    fields = var_operand_def()
    result = result_def(AdtType)

    traits = traits_def(Pure())

    @staticmethod
    def make(constructor: str, fields: Sequence[SSAValue], type_: AdtType) -> ConstructOp:
        return ConstructOp.create(
            operands=fields, result_types=[type_], properties={"constructor": StringAttr(constructor)}
        )

    def verify_(self) -> None:
        type_ = self.result.type
        if module_of(self) is None:
            return
        constructors = find_type(self, type_).instance(type_)
        name = self.constructor.data
        if name not in constructors:
            raise VerifyException(f"@{type_.adt.data} has no constructor {name}; it has {', '.join(constructors)}")
        given = [v.type for v in self.operands]
        if not fits(constructors[name], given, names=False):
            sides = (", ".join(map(str, types)) or "nothing" for types in (constructors[name], given))
            raise VerifyException("the constructor {} takes {}, got {}".format(name, *sides))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.constructor.data}(")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists([v.type for v in self.operands], self.result_types))

    @classmethod
    def parse(cls, parser: Parser) -> ConstructOp:
        name = parser.parse_identifier(" for the name of a constructor")
        fields = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType) or len(type_.inputs) != len(fields):
            parser.raise_error(f"expected a function type of {len(fields)} fields", position, parser.pos)
        return cls.create(
            operands=parser.resolve_operands(fields, type_.inputs.data, position),
            result_types=type_.outputs.data,
            properties={"constructor": StringAttr(name)},
            attributes=attributes,
        )


@irdl_op_definition
class MatchOp(ProgramOp):
    """The results of the first case that fits a value. Its region sees the values around it."""

    name = "relay.match"
    data = operand_def(AdtType | TupleType)
    patterns = prop_def(ArrayAttr[StringAttr])
    """One for each region, as text (`adt_patterns.py`)."""
    partial = opt_prop_def(UnitAttr)
    """The cases need not cover every value."""
    res = var_result_def()
    cases = var_region_def("single_block")

    @staticmethod
    def make(
        data: SSAValue,
        cases: Sequence[tuple[Pattern, Region]],
        result_types: Sequence[Attribute],
        partial: bool = False,
    ) -> MatchOp:
        patterns = ArrayAttr([StringAttr(pattern_text(p)) for p, _ in cases])
        return MatchOp.create(
            operands=[data],
            result_types=result_types,
            properties={"patterns": patterns, **({"partial": UnitAttr()} if partial else {})},
            regions=[region for _, region in cases],
        )

    def case_patterns(self) -> list[Pattern]:
        """The patterns of the regions."""
        return [parse_pattern(p.data) for p in self.patterns]

    def verify_(self) -> None:
        if len(self.patterns) != len(self.regions):
            raise VerifyException(f"{len(self.patterns)} patterns for {len(self.regions)} regions")
        patterns = self.case_patterns()
        for n, region in enumerate(self.regions):
            verify_yield(region, self.result_types, f"case {pattern_text(patterns[n])}")
        if module_of(self) is None:
            return

        def declared(type_: AdtType) -> Constructors:
            return find_type(self, type_).instance(type_)

        for pattern, region in zip(patterns, self.regions, strict=True):
            types = variable_types(pattern, self.data.type, declared)
            if tuple(types) != region.block.arg_types:
                wanted, found = (", ".join(map(str, side)) for side in (types, region.block.arg_types))
                raise VerifyException(f"the variables of {pattern_text(pattern)} are {wanted}, not {found}")
        if self.partial is None:
            missing = missing_case(patterns, self.data.type, declared)
            if missing is not None:
                raise VerifyException(f"no case fits {pattern_text(missing)}; add one, or say `partial`")

    def print(self, printer: Printer) -> None:
        printer.print_string(" partial " if self.partial is not None else " ")
        printer.print_ssa_value(self.data)
        printer.print_string(" : ")
        printer.print_attribute(self.data.type)
        if self.results:
            printer.print_string(" -> ")
            print_types(printer, self.result_types)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" {")
        with printer.indented():
            for pattern, region in zip(self.case_patterns(), self.regions, strict=True):
                printer.print_string("\ncase ")
                _print_pattern(printer, pattern, iter(region.block.args))
                printer.print_string(" ")
                printer.print_region(region, print_entry_block_args=False)
        printer.print_string("\n}")

    @classmethod
    def parse(cls, parser: Parser) -> MatchOp:
        partial = parser.parse_optional_keyword("partial") is not None
        data = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        types = parse_types(parser) if parser.parse_optional_punctuation("->") else ()
        attributes = parser.parse_optional_attr_dict() if parser.parse_optional_keyword("attributes") else {}
        parser.parse_punctuation("{")
        cases: list[tuple[Pattern, Region]] = []
        while not parser.parse_optional_punctuation("}"):
            parser.parse_keyword("case")
            arguments: list[Parser.Argument] = []
            pattern = _parse_pattern(parser, arguments)
            cases.append((pattern, parser.parse_region(arguments)))
        made = cls.make(parser.resolve_operand(data, type_), cases, types, partial)
        made.attributes.update(attributes)
        return made


def _print_pattern(printer: Printer, pattern: Pattern, arguments: Iterator[BlockArgument]) -> None:
    if isinstance(pattern, Variable):
        print_argument(printer, next(arguments))
    elif isinstance(pattern, Anything):
        printer.print_string("_")
    else:
        if isinstance(pattern, Made):
            printer.print_string(pattern.constructor)
        if pattern.fields:
            with printer.in_parens():
                printer.print_list(pattern.fields, lambda p: _print_pattern(printer, p, arguments))


def _parse_pattern(parser: Parser, arguments: list[Parser.Argument]) -> Pattern:
    """A pattern as text has it: its variables with their names and types, which become arguments."""

    def field() -> Pattern:
        return _parse_pattern(parser, arguments)

    fields = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, field)
    if fields is not None:
        return Fields(tuple(fields))
    variable = parser.parse_optional_argument()
    if variable is not None:
        arguments.append(variable)
        return Variable()
    name = parser.parse_identifier(" for a pattern")
    if name == "_":
        return Anything()
    fields = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, field)
    return Made(name, tuple(fields or ()))
