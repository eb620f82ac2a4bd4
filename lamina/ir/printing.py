"""The text of ops and modules."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from lamina.ir.diagnostics import ElidingPrinter, ModulePrinter

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from lamina.ir.context import LaminaContext


def print_op(
    op: Operation, ctx: LaminaContext, generic: bool = False, locations: bool = False, elide: int | None = None
) -> str:
    """The text of an op as opt-tool prints it, without a last newline."""
    out = StringIO()
    printer = ElidingPrinter(elide, stream=out, print_generic_format=generic, print_debuginfo=locations)
    printer.print_op(op)
    printer.print_metadata(ctx.loaded_dialects)
    return out.getvalue()


def module_text(module: ModuleOp) -> str:
    """The module as opt-tool prints it."""
    stream = StringIO()
    ModulePrinter(stream).print_op(module)
    return stream.getvalue() + "\n"
