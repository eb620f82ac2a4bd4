"""The assembly formats of op classes, read when a first op is printed or parsed, not where the class is defined.

xDSL reads the format of every class at its definition, with a parser of its own. A compilation that goes from ops to
ops defines five hundred classes and prints none of them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from xdsl.irdl import IRDLOperation, OpDef, operations

if TYPE_CHECKING:
    from xdsl.irdl.declarative_assembly_format import FormatProgram
    from xdsl.parser import Parser
    from xdsl.printer import Printer

_accessors = operations.get_accessors_from_op_def


def read_formats_late() -> None:
    """From now on, classes of ops that are defined read their formats at first use.

    A format that is wrong is then refused there, with xDSL's message. Formats that were read before stay as they are.
    """
    operations.get_accessors_from_op_def = _late


def _late(op_def: OpDef, custom_verify: Any | None) -> dict[str, Any]:
    """The members that a class gets from its definition: xDSL's own, but for those that print and parse."""
    text = op_def.assembly_format
    if text is None:
        return _accessors(op_def, custom_verify)
    op_def.assembly_format = None
    try:
        found = _accessors(op_def, custom_verify)
    finally:
        op_def.assembly_format = text

    @cache
    def program() -> FormatProgram:
        from xdsl.irdl.declarative_assembly_format import FormatProgram
        from xdsl.utils.exceptions import ParseError, PyRDLOpDefinitionError

        try:
            return FormatProgram.from_str(text, op_def)
        except ParseError as error:
            raise PyRDLOpDefinitionError("Error during the parsing of the assembly format: ", error.args) from error

    def parse(cls: type[IRDLOperation], parser: Parser) -> IRDLOperation:
        return program().parse(parser, cls)

    def print_(self: IRDLOperation, printer: Printer) -> None:
        program().print(printer, self)

    return found | {"parse": classmethod(parse), "print": print_}
