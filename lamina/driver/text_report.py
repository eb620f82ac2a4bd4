"""Reports of what is not supported in a text that a pass makes Relay of."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp

from lamina.driver.relay_source import parsed_text
from lamina.frontends.formats import TextFormat
from lamina.frontends.support import SupportReport, UnsupportedOp

if TYPE_CHECKING:
    import os


def report_of_text(path: str | os.PathLike[str]) -> SupportReport | None:
    """All ops of a text that have no rule, with their places; None where the text is of one of our own levels.

    Raises LaminaError for what is no such text.
    """
    from lamina.passes.stablehlo_to_relay.stablehlo_to_relay import entry_of, grouped, lower_module

    read = parsed_text(path)
    if not isinstance(read.form, TextFormat) or not read.form.pipeline:
        return None
    entry_of([op for op in read.module.body.block.ops if isinstance(op, FuncOp)])
    dialects = tuple(read.form.marks)
    names = Counter(op.name for op in read.module.walk() if op.name.startswith(dialects))
    missing = [
        UnsupportedOp("", name, 0, len(places), tuple(places), reason)
        for name, reason, places, _ in grouped(lower_module(read.module, read.ctx.params))
    ]
    for gone in missing:
        names.pop(gone.op_type.partition(" ")[0], None)
    return SupportReport(
        read.label,
        sum(names.values()) + sum(m.count for m in missing),
        dict(names),
        tuple(missing),
        "passes/stablehlo_to_relay",
    )
