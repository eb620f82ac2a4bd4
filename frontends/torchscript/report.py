"""Reports on scripts: which operators of their code have no row."""

from __future__ import annotations

import ast
from typing import Any

from lamina.frontends.aten.table import overloads
from lamina.frontends.support import SupportReport, UnsupportedOp
from lamina.frontends.torchscript.numbers import NUMBERS
from lamina.frontends.torchscript.packed import PACKS
from lamina.frontends.torchscript.program import Script, guarded
from lamina.frontends.torchscript.script import ASKED, RAISE, THE_SAME, operator_of


def report_of(source: Any) -> SupportReport:
    """The report on a script: the operators that its code names, whether or not they are reached."""
    script = Script.of(source)
    supported: dict[str, int] = {}
    missing: dict[str, int] = {}
    for name in script.archive.names():
        if not name.startswith("code/") or not name.endswith(".py"):
            continue
        text = script.archive.text(name)
        tree = guarded(f"{script.archive.label}: {name}", lambda text=text: ast.parse(text))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (operator := operator_of(node.func)):
                known = operator in NUMBERS or operator in ASKED or operator in PACKS or operator == RAISE
                known = known or operator in THE_SAME or bool(overloads(operator))
                chosen = supported if known else missing
                chosen[operator] = chosen.get(operator, 0) + 1
    rows: list[UnsupportedOp] = []
    for name, count in sorted(missing.items()):
        domain, _, own = name.rpartition(".")
        rows.append(UnsupportedOp(domain or "aten", own, 0, count, ("code",), "no converter"))
    total = sum(supported.values()) + sum(missing.values())
    return SupportReport(script.archive.label, total, dict(sorted(supported.items())), tuple(rows), "frontends/aten")
