"""Declarations of an op or a pass, as lines of Markdown: fields, options, spelling in Python."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ArrayOfConstraint, EmptyArrayAttrConstraint, SymbolNameConstraint
from xdsl.irdl import (
    AnyAttr,
    AnyOf,
    BaseAttr,
    EqAttrConstraint,
    MessageConstraint,
    OptOperandDef,
    OptPropertyDef,
    OptResultDef,
    ParamAttrConstraint,
    RangeLengthConstraint,
    RangeOf,
    VarConstraint,
    VarOperandDef,
    VarRegionDef,
    VarResultDef,
)
from xdsl.passes import ModulePass

from lamina.ir import intrinsics
from lamina.ir.intrinsics import intrinsic_files
from lamina.opt_tool.listing import pass_options

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("dialects", "passes", "frontends", "backends")


class IncompleteReference(SystemExit):
    """The pages cannot be written; the message has a line for each reason."""


# What xDSL adds to ops with several variadic operands; nobody writes it.
_HIDDEN = ("operandSegmentSizes", "resultSegmentSizes")


def doc_of(thing: Any) -> str:
    """The docstring that a class or module itself has. Raises IncompleteReference where it has none."""
    text = cast("dict[str, str | None]", vars(thing)).get("__doc__")
    if not text or text.startswith(f"{getattr(thing, '__name__', '')}("):
        raise IncompleteReference(f"{thing!r} has no docstring")
    return inspect.cleandoc(text)


def source_link(module: str) -> str:
    """A link from a page to the file of a module, by the room's own name."""
    parts = module.split(".")
    path = Path(*(parts[1:] if parts[1] in ROOMS else parts)).with_suffix(".py")
    if not (ROOT / path).is_file():
        raise IncompleteReference(f"{module} has no file {path}")
    return f"[`{path}`](../../{path})"


_WORDS: dict[type[Any], Callable[[Any], str]] = {
    RangeLengthConstraint: lambda c: constraint_text(c.constraint),
    RangeOf: lambda c: constraint_text(c.constr),
    EqAttrConstraint: lambda c: str(c.attr),
    BaseAttr: lambda c: str(c.attr.name),
    AnyAttr: lambda c: "any",
    AnyOf: lambda c: " or ".join(sorted(map(constraint_text, c.attr_constrs))),
    ArrayOfConstraint: lambda c: f"array of {constraint_text(c.elem_range_constraint)}",
    ParamAttrConstraint: lambda c: f"{c.base_attr.name}<{', '.join(_stated(c.param_constrs))}>",
    VarConstraint: lambda c: constraint_text(c.constraint),
    MessageConstraint: lambda c: constraint_text(c.constr),
    EmptyArrayAttrConstraint: lambda c: "empty array",
    SymbolNameConstraint: lambda c: "symbol name",
}


def _stated(constraints: Iterable[Any]) -> list[str]:
    return [constraint_text(c) for c in constraints if not isinstance(c, AnyAttr)]


def constraint_text(constraint: Any) -> str:
    """A constraint of a field in the words of the IR: `!te.loop`, `string`, `memref or index`."""
    words = _WORDS.get(cast("type[Any]", type(constraint)))
    if words is None:
        raise IncompleteReference(f"no words for the constraint {constraint!r}")
    return words(constraint)


def _how_many(definition: Any) -> str:
    if isinstance(definition, (OptOperandDef, OptResultDef, OptPropertyDef)):
        return "optional"
    return "any number" if isinstance(definition, (VarOperandDef, VarResultDef, VarRegionDef)) else ""


def field_rows(op: type[Any]) -> list[tuple[str, str, str, str]]:
    """(kind, name, type, how many and which default) of each field of an op, in the order of its definition."""
    definition = op.get_irdl_definition()
    rows: list[tuple[str, str, str, str]] = []
    for kind, fields in (("operand", definition.operands), ("result", definition.results)):
        rows += [(kind, name, constraint_text(f.constr), _how_many(f)) for name, f in fields]
    for kind, fields in (("attribute", definition.properties), ("attribute", definition.attributes)):
        for name, f in fields.items():
            default = getattr(f, "default_value", None)
            note = _how_many(f) if default is None else f"default {default}"
            if name not in _HIDDEN:
                rows.append((kind, name, constraint_text(f.constr), note))
    rows += [("region", name, "region", _how_many(f)) for name, f in definition.regions]
    return rows


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A Markdown table, nothing where there are no rows."""
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    if not body:
        return []
    titles = list(head)
    return [f"| {' | '.join(r)} |" for r in (titles, ["---"] * len(titles), *body)] + [""]


def fields(op: type[Any]) -> list[str]:
    """The fields of an op as a table."""
    rows = [(f"`{name}`", kind, f"`{type_}`", note) for kind, name, type_, note in field_rows(op)]
    return table(("field", "is a", "of type", ""), rows)


def options(cls: type[ModulePass]) -> list[str]:
    """The options of a pass as a table."""
    rows = [(f"`{o.name}`", f"`{o.type}`", o.default, o.help) for o in pass_options(cls)]
    return table(("option", "type", "default", ""), rows) or ["No options.", ""]


def built_in_intrinsics() -> list[str]:
    """The tensor intrinsics that backends bring: what the head of each file says of it."""
    rows: list[tuple[str, str, str]] = []
    for name, path in intrinsic_files().items():
        text = path.read_text("utf-8")
        if path.suffix == ".py":
            head = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
        else:
            head = " ".join(re.findall(r"^// ?(.*)", text.partition("\n\n")[0], re.M))
        if not head:
            raise IncompleteReference(f"{path}: the head of the file does not say what the intrinsic does")
        shown = path.relative_to(intrinsics.ROOT)
        rows.append((f"`@{name}`", " ".join(head.split()), f"[`{shown}`](../../{shown})"))
    return table(("intrinsic", "what it does", "declared in"), rows)


def spelled_in_python(name: str) -> list[str]:
    """The spelling of a primitive in Python: TVM's way on stages and schedules, and the builder of schedule IR.

    Raises IncompleteReference for a primitive that neither has.
    """
    from lamina import te as public
    from lamina.dialects.schedule import build as scheduling

    def signature(owner: type[Any], method: str) -> str:
        shown = inspect.signature(getattr(owner, method))
        names = [
            f"*{p.name}"
            if p.kind is p.VAR_POSITIONAL
            else p.name
            if p.default is p.empty
            else f"{p.name}={p.default!r}"
            for p in list(shown.parameters.values())[1:]
        ]
        return f"{method}({', '.join(names)})"

    word = name.partition(".")[2]
    lines: list[str] = []
    for owner, subject in ((public.Stage, "s[C]"), (public.Schedule, "s")):
        lines += [f"`{subject}.{signature(owner, m)}`" for m in (word, f"set_{word}") if hasattr(owner, m)]
    if word in vars(scheduling.Schedule):
        lines.append(f"`Schedule.{signature(scheduling.Schedule, word)}` of `dialects/schedule/build.py`")
    if not lines:
        raise IncompleteReference(f"Python cannot say {name}")
    return lines
