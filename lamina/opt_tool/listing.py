"""`--list-passes`, `--pass-help`, `--list-ops`, `--show-dialects`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from importlib import import_module
from typing import Any, NamedTuple, TextIO, get_type_hints

from lamina.errors import UsageError
from lamina.ir.context import LaminaContext
from lamina.ir.own_dialects import OUR_DIALECTS
from lamina.ir.pipeline import type_text
from lamina.ir.registry import PassFile, Registry, our_passes

FACETS = (
    "infer_type",
    "np_ref",
    "te_compute",
    "decompose",
    "samples",
    "infer_layout",
    "relay_grad",
    "precision",
    "static",
    "on_host",
)
"""The facets that an op of relay may state. The last two are of ops whose result shapes depend on values: the ordinary
op that one is when they are known, or how the machine computes it."""

_STRUCTURE = ("relay.constant", "relay.fn", "relay.call", "relay.return", "relay.type", "relay.yield")
"""Relay's ops that hold others together in every program."""

_LEVEL_TITLES = {
    "relay": "Relay",
    "te": "TE",
    "tir": "TIR",
    "llvm": "LLVM",
    "stair": "Stairs between levels",
    "inspection": "Any level",
    "backend": "Backends",
}


def _docstring(file: PassFile) -> str:
    # Reading the docstring without importing: rules are compiled on import.
    return ast.get_docstring(ast.parse(file.path.read_text("utf-8"))) or ""


def first_line(text: str | None) -> str:
    """The first sentence of a docstring."""
    return (text or "").strip().partition("\n")[0].strip()


def list_passes(registry: Registry, out: TextIO) -> None:
    """All passes with one line each, ours by level."""
    ours = our_passes()
    width = max((len(n) for n in registry.names()), default=0)
    for level, title in _LEVEL_TITLES.items():
        files = [f for f in ours.values() if f.level == level]
        if files:
            out.write(f"{title}:\n")
        for f in files:
            text = first_line(_docstring(f)).removeprefix(f"{f.name}: ")
            out.write(f"  {f.name:{width}}  {text}".rstrip() + "\n")
    groups: dict[str, list[str]] = {}
    for name in registry.names():
        if name not in ours:
            groups.setdefault(registry.origin(name), []).append(name)
    for origin, names in groups.items():
        out.write(f"{origin}:\n")
        for name in names:
            try:
                cls = registry.find(name)
                module = sys.modules.get(cls.__module__)
                # A dataclass without a docstring gets its signature as one.
                doc = cls.__doc__ if not (cls.__doc__ or "").startswith(f"{cls.__name__}(") else None
                text = first_line(doc) or first_line(module.__doc__ if module else "")
            except Exception as e:
                text = f"(does not load: {first_line(str(e))})"
            out.write(f"  {name:{width}}  {text}".rstrip() + "\n")


def pass_help(name: str, registry: Registry, out: TextIO) -> None:
    """Print what a pass does, with its example, and its options with types and defaults. Raises UsageError."""
    cls = registry.find(name)
    ours = our_passes().get(name)
    if ours is not None:
        text = _docstring(ours)
    else:
        own = cls.__doc__ if not (cls.__doc__ or "").startswith(f"{cls.__name__}(") else None
        text = inspect.cleandoc(own or sys.modules[cls.__module__].__doc__ or "(no description)")
    out.write(f"{text}\n" if text.startswith(f"{name}: ") else f"{name}\n\n{text}\n")
    options = pass_options(cls)
    out.write("\nOptions:\n" if options else "\nNo options.\n")
    for option in options:
        default = "required" if option.default == "required" else f"default {option.default}"
        help_text = f"  {option.help}" if option.help else ""
        out.write(f"  {option.name}: {option.type} ({default}){help_text}\n")


def list_rules(name: str, registry: Registry, ctx: LaminaContext, out: TextIO) -> None:
    """The rules that stand in a pass's file: of several sets those that have the pass's name. Raises UsageError.

    Those of sets come in the order they are tried, those of conversions by the op that each lowers.
    """
    from lamina.dialects.rules.terms import Equation
    from lamina.passes.rules.conversion import Conversion
    from lamina.passes.rules.rewriting import Rules

    found = list(vars(sys.modules[registry.find(name).__module__]).values())
    sets = [value for value in found if isinstance(value, Rules)]
    sets = [rules for rules in sets if rules.name == name] or sets
    for entry in (e for rules in sets for e in rules.entries):
        rule = entry.rule
        text = repr(rule) if isinstance(rule, Equation) else first_line(rule.function.__doc__)
        out.write(f"{entry.where}  {text}\n")
    conversions: list[Conversion[Any, Any]] = [value for value in found if isinstance(value, Conversion)]
    if not conversions and not any(rules.entries for rules in sets):
        raise UsageError(f"{name} has no rewrite rules: it is written as a function")
    dialects = [ctx.get_optional_dialect(d) for d in (*OUR_DIALECTS, *registry.dialects)] if conversions else []
    known = [op for d in dialects if d is not None for op in d.operations]
    for conversion in conversions:
        rules = conversion.rules(known)
        width, places = max(len(r.op.name) for r in rules), max(len(r.where) for r in rules)
        out.write(f"in {conversion.place}:\n")
        for rule in rules:
            out.write(f"  {rule.op.name:{width}}  {rule.where:{places}}  {rule.text}\n")


class PassOption(NamedTuple):
    """An option of a pass, as pipelines spell it."""

    name: str
    type: str
    default: str
    """`required` where there is none."""
    help: str


def pass_options(cls: type[Any]) -> list[PassOption]:
    """The options of a pass: its fields, in order."""
    hints = get_type_hints(cls)
    found: list[PassOption] = []
    for f in dataclasses.fields(cls):
        if not f.init or f.name == "name":
            continue
        default = "required"
        if f.default is not dataclasses.MISSING:
            default = _shown(f.default)
        elif f.default_factory is not dataclasses.MISSING:
            default = _shown(f.default_factory())
        name = f.name.replace("_", "-")
        found.append(PassOption(name, type_text(hints[f.name]), default, str(f.metadata.get("help", ""))))
    return found


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value) if value != "" else '""'


def list_ops(registry: Registry, ctx: LaminaContext, out: TextIO) -> None:
    """The ops of our dialects and of loaded ones; for those of relay's kind the facets of each, and its fusion kind."""
    base = import_module("lamina.dialects.relay.base").RelayOp
    for dialect in (*OUR_DIALECTS, *registry.dialects):
        try:
            found = ctx.get_optional_dialect(dialect)
        except Exception as e:
            out.write(f"{dialect}: (does not load: {first_line(str(e))})\n")
            continue
        ops = sorted(found.operations, key=lambda o: o.name) if found is not None else []
        out.write(f"{dialect}: {len(ops)} ops\n")
        width = max((len(o.name) for o in ops), default=0)
        for op in ops:
            facets = _facets(op) if dialect == "relay" or issubclass(op, base) else ""
            doc = first_line(inspect.getdoc(op)) if op.__doc__ else ""
            out.write(f"  {op.name:{width}}  {facets + '  ' if facets else ''}{doc}".rstrip() + "\n")


def _facets(op: type[Any]) -> str:
    base = import_module("lamina.dialects.relay.base").RelayOp
    if not issubclass(op, base):
        return "[run by the machine] -" if op.name not in _STRUCTURE else "[structure] -"
    stated = [n for n in FACETS if getattr(op, n, None) is not None and getattr(op, n) is not getattr(base, n, None)]
    kind = getattr(op, "FUSION_KIND", None)
    return f"[{' '.join(stated)}] {kind.name if kind is not None else '-'}"


def show_dialects(ctx: LaminaContext, out: TextIO) -> None:
    """The names of all dialects, ours marked."""
    for name in sorted(ctx.registered_dialect_names):
        out.write(f"{name}{'  (lamina)' if name in OUR_DIALECTS else ''}\n")
