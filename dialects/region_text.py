"""The text of ops with a region of one block: what its arguments are bound to, the op's types, and `{ ops }`.

(%a = %x, %b = %y) ... : (type, type) -> type attributes {...} { ops }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer


def parse_optional_body(parser: Parser) -> Region | None:
    """A region of one block without arguments, if there is one; xDSL reads `{ }` as a region without a block."""
    region = parser.parse_optional_region()
    if region is not None and region.blocks.first is None:
        region.add_block(Block())
    return region


def parse_body(parser: Parser) -> Region:
    """A region of one block without arguments. Raises ParseError where there is none."""
    return parse_optional_body(parser) or parser.raise_error("Expected region!")


def print_body(printer: Printer, region: Region) -> None:
    """A region of one block, whose arguments stand elsewhere in the op's text."""
    printer.print_region(region, print_entry_block_args=False, print_empty_block=False)


def parse_attributed_body(parser: Parser) -> tuple[dict[str, Attribute], Region]:
    """` attributes {...} { ops }`, which `print_attributed_body` prints: the attributes and the region."""
    extra = parser.parse_optional_attr_dict_with_keyword()
    return dict(extra.data) if extra else {}, parse_body(parser)


def print_attributed_body(printer: Printer, attributes: dict[str, Attribute], region: Region) -> None:
    """The end of an op's text: the attributes that its syntax does not show, and its region of one block."""
    if attributes:
        printer.print_op_attributes(attributes, print_keyword=True)
    printer.print_string(" ")
    print_body(printer, region)


Binding: TypeAlias = "tuple[Parser.UnresolvedArgument, UnresolvedOperand]"


def print_bindings(printer: Printer, arguments: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
    """`(%a = %x, %b = %y)`: arguments of the region, and the values outside that they stand for."""

    def binding(pair: tuple[SSAValue, SSAValue]) -> None:
        printer.print_ssa_value(pair[0])
        printer.print_string(" = ")
        printer.print_ssa_value(pair[1])

    with printer.in_parens():
        printer.print_list(list(zip(arguments, values, strict=True)), binding)


def parse_bindings(parser: Parser) -> list[Binding]:
    """Parse what `print_bindings` prints."""

    def binding() -> Binding:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        return argument, parser.parse_unresolved_operand()

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, binding)


def print_signature(
    printer: Printer, inputs: Sequence[Attribute], outputs: Sequence[Attribute], attributes: dict[str, Attribute]
) -> None:
    """` : (types) -> types attributes {...} `; a single result stands without parentheses."""
    printer.print_string(" : ")
    with printer.in_parens():
        printer.print_list(inputs, printer.print_attribute)
    printer.print_string(" -> ")
    if len(outputs) == 1:
        printer.print_attribute(outputs[0])
    else:
        with printer.in_parens():
            printer.print_list(outputs, printer.print_attribute)
    if attributes:
        printer.print_op_attributes(attributes, print_keyword=True)
    printer.print_string(" ")


def parse_types(parser: Parser) -> tuple[list[Attribute], list[Attribute]]:
    """The types that `print_signature` prints: of the inputs and of the results."""
    parser.parse_punctuation(":")
    inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    parser.parse_punctuation("->")
    outputs = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return list(inputs), [parser.parse_type()] if outputs is None else list(outputs)
