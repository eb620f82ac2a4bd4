"""Messages to the user: `file:line:col: error: message`, the source line with a caret, and notes.

A `Diagnostic` knows its position; `render` needs the texts of the files to show the line. Errors about an op find
its location, and say the op itself in one line, without its regions and with large constants elided.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    UnregisteredOp,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.printer import Printer

from lamina.dialects.locations import location_name as location_name
from lamina.dialects.locations import source_position as source_position
from lamina.errors import LaminaError
from lamina.ir.parsing import TextError

MAX_SHOWN = 160
"""Longer source lines are cut around the caret."""


@dataclass
class Diagnostic:
    """One message to the user, with a position where there is one."""

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    width: int = 1
    name: str = ""
    """The name that a location gives, where there is no file."""
    notes: list[Diagnostic] = field(default_factory=list["Diagnostic"])

    @property
    def where(self) -> str:
        if self.line:
            return f"{self.file}:{self.line}:{self.column}"
        return self.name or self.file


def location_text(op: Operation) -> str:
    """`file:line:col`, else the quoted name of the op's location, else nothing."""
    found = source_position(op.location)
    if found is not None:
        return "{}:{}:{}".format(*found)
    name = location_name(op.location)
    return f'"{name}"' if name else ""


def at_op(severity: str, message: str, op: Operation | None, notes: list[Diagnostic] | None = None) -> Diagnostic:
    """A diagnostic at the location of an op."""
    file, line, column, name = "", 0, 0, ""
    if op is not None:
        found = source_position(op.location)
        if found is not None:
            file, line, column = found
        name = location_name(op.location)
    width = len(op_name(op)) if op is not None else 1
    return Diagnostic(severity, message, file, line, column, width, f'"{name}"' if name else "", notes or [])


def op_name(op: Operation) -> str:
    """The name of an op; of an unregistered one the name that the text gave it."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def diagnostic_of(error: BaseException, op: Operation | None = None) -> Diagnostic:
    """An error as a diagnostic; `op` is where it arose if the error itself does not say."""
    if isinstance(error, TextError):
        notes = [Diagnostic("note", m, error.file, line, column) for line, column, m in error.notes]
        return Diagnostic("error", error.what, error.file, error.line, error.column, error.width, "", notes)
    if isinstance(error, LaminaError):
        what = f"{error.what}; {error.hint}" if error.hint else error.what
        notes = [at_op("note", message, at) for at, message in getattr(error, "notes", [])]
        if error.op is None and op is None:
            return Diagnostic("error", what, name=error.where, notes=notes)
        return at_op("error", what, error.op or op, notes)
    return at_op("error", " ".join(str(error).split()) or type(error).__name__, op)


def see_op(op: Operation, generic: bool = False) -> Diagnostic:
    """MLIR's `note: see current operation`; generic where the op may be too broken for its own syntax."""
    return at_op("note", f"see current operation: {op_text(op, generic=generic)}", op)


# -- text ----------------------------------------------------------------------------------------------------


def render(diagnostic: Diagnostic, sources: Mapping[str, str]) -> str:
    """The diagnostic and its notes, each with its source line and a caret where the file is known."""
    lines: list[str] = []
    for d in (diagnostic, *diagnostic.notes):
        prefix = f"{d.where}: " if d.where else ""
        lines.append(f"{prefix}{d.severity}: {d.message}")
        source = sources.get(d.file) if d.line else None
        repeated = d is not diagnostic and (d.file, d.line, d.column) == (
            diagnostic.file,
            diagnostic.line,
            diagnostic.column,
        )
        if source is not None and not repeated:
            lines += _caret(source, d)
    return "\n".join(lines) + "\n"


def _caret(source: str, d: Diagnostic) -> list[str]:
    rows = source.split("\n")
    if d.line > len(rows):
        return []
    row = rows[d.line - 1].rstrip("\r")
    start = d.column - 1
    width = max(1, min(d.width, len(row) - start))
    if len(row) > MAX_SHOWN:
        first = max(0, start - MAX_SHOWN // 2)
        row, start = row[first : first + MAX_SHOWN], start - first
        width = max(1, min(width, len(row) - start))
    # Tabs stay tabs under the caret, so that it stands right whatever their width.
    lead = "".join("\t" if c == "\t" else " " for c in row[:start])
    printable = "".join(c if c.isprintable() or c == "\t" else "?" for c in row)
    return [printable, lead + "^" + "~" * (width - 1)]


_PLAIN = re.compile(rb"[ !#-\[\]-~]*")
"""Bytes that stand for themselves in a literal."""


class ModulePrinter(Printer):
    """xDSL's printer, with the parentheses that it leaves out where a function's only result is a function."""

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        # What most texts are: the lines of a module are put together from a dozen pieces each.
        if "\n" in text or self.stream is None:
            return super().print_string(text, indent=indent)
        self._current_column += len(text)
        self.stream.write(text)

    def print_bytes_literal(self, bytestring: bytes) -> None:
        # xDSL prints each character on its own: the features of a target are some hundreds.
        if _PLAIN.fullmatch(bytestring) is None:
            return super().print_bytes_literal(bytestring)
        self.print_string(f'"{bytestring.decode("ascii")}"')

    def print_op(self, op: Operation) -> None:
        kind = type(op)
        if self.print_generic_format or (kind is not FuncOp and kind is not CallOp):
            return super().print_op(op)
        if isinstance(op, FuncOp) and _is_function(op.function_type.outputs.data) and op.res_attrs is None:
            # Results that have attributes, none here, stand in parentheses.
            op.properties["res_attrs"] = ArrayAttr([DictionaryAttr({})])
            try:
                return super().print_op(op)
            finally:
                del op.properties["res_attrs"]
        if isinstance(op, CallOp) and _is_function(op.result_types):
            self._print_results(op)
            self.print_string("func.call ")
            self.print_attribute(op.callee)
            with self.in_parens():
                self.print_list(op.operands, self.print_ssa_value)
            self.print_op_attributes(op.attributes)
            self.print_string(" : ")
            return self.print_operation_type(op)
        return super().print_op(op)


def _is_function(types: Sequence[Attribute]) -> bool:
    return len(types) == 1 and isinstance(types[0], FunctionType)


class ElidingPrinter(ModulePrinter):
    """Prints dense constants of more than `limit` elements as MLIR's `dense_resource<__elided__>`."""

    def __init__(self, limit: int | None, **kw: Any) -> None:
        super().__init__(**kw)
        self.limit = limit

    def print_attribute(self, attribute: Attribute) -> None:
        if self.limit is not None and type(attribute) is DenseIntOrFPElementsAttr:
            dense = cast(DenseIntOrFPElementsAttr[Any], attribute)
            data = dense.data.data
            count = len(dense)
            size = len(data) // count if count else 0
            if count > self.limit and data != data[:size] * count:
                self.print_string("dense_resource<__elided__> : ")
                super().print_attribute(dense.type)
                return
        super().print_attribute(attribute)


class _HeadPrinter(ElidingPrinter):
    """One op without the contents of its regions."""

    def print_region(self, region: Region, *_: Any, **__: Any) -> None:
        self.print_string("{...}")


def op_text(op: Operation, limit: int = 16, generic: bool = False) -> str:
    """One op in one line, with the generic syntax where its own fails."""
    for form in (generic, True):
        out = StringIO()
        try:
            _HeadPrinter(limit, stream=out, print_generic_format=form).print_op(op)
        except Exception:
            continue
        text = " ".join(out.getvalue().split())
        return text if len(text) <= 400 else text[:400] + " ..."
    return op_name(op)


def value_text(value: SSAValue) -> str:
    """A value as messages write it: its name with %, or `the value` where it has none."""
    return f"%{value.name_hint}" if value.name_hint else "the value"
