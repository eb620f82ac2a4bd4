"""Statements of a relay op, as lines of Markdown: its facets, samples and refusals, and the rules that mention it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import OpPattern, RelayOp
from lamina.dialects.relay.op_index import OPS
from lamina.dialects.rules import patterns
from lamina.dialects.rules.op_protocol import Sample
from lamina.opt_tool.listing import FACETS
from lamina.passes.rules.rewriting import Lowering, Rules
from tools.reference.declarations import ROOT, doc_of, fields, source_link

SHOWN = 4
"""The most samples of an op that are shown."""
MOST_RULES = 12
"""The most rules that mention an op that are shown."""


@cache
def relay_ops() -> tuple[type[Any], ...]:
    """All ops of the relay dialect by name."""
    return tuple(op for name in sorted(OPS) if (op := find_op(name)) is not None)


def relay_section(op: type[Any]) -> tuple[str, list[str]]:
    """Title and lines of an op."""
    lines = [doc_of(op), "", f"Declared in {source_link(op.__module__)}.", "", *fields(op)]
    if issubclass(op, RelayOp):
        lines += [*_facets(op), *_samples(op)]
    rules = rules_by_op().get(op.name, [])
    if rules:
        more = [f"- and {len(rules) - MOST_RULES} more"] if len(rules) > MOST_RULES else []
        lines += ["Rules that mention it:", "", *rules[:MOST_RULES], *more, ""]
    return op.name, lines


def _facets(op: type[RelayOp]) -> list[str]:
    stated = [f"`{name}`" for name in FACETS if hasattr(op, name) and not _is_open(op, name)]
    gradient = f" No gradient: {op.NO_GRADIENT}." if op.NO_GRADIENT else ""
    kind = OpPattern(op.FUSION_KIND).name.lower().replace("_", " ")
    return [f"Facets: {', '.join(stated)}. Fusion: {kind}.{gradient}", ""]


def _is_open(op: type[RelayOp], name: str) -> bool:
    return getattr(getattr(op, name), "__isabstractmethod__", False)


def _samples(op: Any) -> list[str]:
    if not hasattr(op, "samples"):
        return []
    samples: list[Sample] = op.samples()
    valid = list(dict.fromkeys(_sample_text(s) for s in samples if s.error is None))
    lines = [f"{len(valid)} samples, among them:", "", *(f"- `{text}`" for text in valid[:SHOWN]), ""] if valid else []
    refused = [f"- `{_sample_text(s)}`: {s.error}" for s in samples if s.error is not None]
    return lines + (["Refuses:", "", *dict.fromkeys(refused), ""] if refused else [])


def _sample_text(sample: Sample) -> str:
    attrs = ", ".join(f"{name} = {value!r}" for name, value in sorted(sample.attrs.items()))
    return ", ".join(map(str, sample.operands)) + (f" {{{attrs}}}" if attrs else "")


# -- rules ---------------------------------------------------------------------------------------------------------


@cache
def rules_by_op() -> dict[str, list[str]]:
    """The rules of the tree that mention an op, on either side, in the order of their files."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for room in ("passes", "backends"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if "Rules(" not in path.read_text("utf-8") or path.stem == "rewriting":
                continue
            name = path.relative_to(ROOT).as_posix()
            module = import_module("lamina." + name.removesuffix(".py").replace("/", "."))
            sets = [value for value in vars(module).values() if isinstance(value, Rules)]
            for rule in dict.fromkeys(rule for s in sets for rule in s.rules):
                row = f"- [`{path.name}`](../../{name}): `{_rule_text(rule)}`"
                for op in sorted(set(_mentioned(rule))):
                    found[op] += [row] if row not in found[op] else []
    return dict(found)


def _rule_text(rule: patterns.Equation | Lowering) -> str:
    return f"{rule.function.__name__}, a lowering" if isinstance(rule, Lowering) else repr(rule)


def _mentioned(rule: patterns.Equation | Lowering) -> Iterator[str]:
    if isinstance(rule, Lowering):
        yield from (op.name for op in rule.root_types)
        return
    stack: list[Any] = [rule.left, rule.right]
    while stack:
        pattern = stack.pop()
        if isinstance(pattern, patterns.OpPattern):
            yield pattern.op.name
            stack += [*pattern.args, *pattern.attrs.values()]
        elif isinstance(pattern, patterns.Alternatives):
            stack += pattern.choices
        elif isinstance(pattern, patterns.Constrained):
            stack.append(pattern.pattern)
        elif isinstance(pattern, patterns.TypeExpr):
            stack.append(pattern.pattern)
        elif isinstance(pattern, patterns.Computed):
            stack += pattern.args
