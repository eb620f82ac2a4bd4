"""Passes of the CPU's pipeline that are rules: how many there are, and the lines that the others have besides.

    python -m tools.count_rules             how many passes, how many equations
    python -m tools.count_rules --list      and each pass with its lines

A pass is rules when its file has a set of rules, or asks a facet of the ops for what stands in their place, and at most
20 lines of code (`tools.count_code`) besides imports, the pass itself and its rules: lowerings, functions that guards
and attributes are computed by, patterns, variables, and what puts them into sets.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from lamina.dialects.rules.terms import Equation
from lamina.dialects.rules.values import Part
from lamina.driver.pipelines import steps_of
from lamina.passes.rules.rewriting import Rules
from lamina.transform import find_pass
from tools.count_code import code_lines

MOST = 20
"""Lines besides rules."""
FACETS = frozenset({"expand", "replace_by_form"})
"""Functions that put the value of an op's facet into its place: `decompose`, `legalize`."""


class RuleFigures(NamedTuple):
    """Contents of the file of a pass."""

    name: str
    path: Path
    sets: bool
    """Whether there are rules or a facet."""
    besides: int

    @property
    def is_rules(self) -> bool:
        return self.sets and self.besides <= MOST


def passes() -> Iterator[RuleFigures]:
    """The passes that compile a model for the CPU, each once."""
    for name in dict.fromkeys(steps_of("cpu").names()):
        found = find_pass(name)
        module = import_module(found.module)
        yield figures(name, found.path.resolve(), module)


def figures(name: str, path: Path, module: ModuleType) -> RuleFigures:
    """Contents of a file."""
    values = vars(module).values()
    sets = any(isinstance(v, Rules) for v in values) or not FACETS.isdisjoint(vars(module))
    lines = [line.number for line in code_lines(path)]
    rest = [s for s in ast.parse(path.read_text("utf-8")).body if not is_rule(s, module)]
    besides = sum(first(s) <= n <= (s.end_lineno or s.lineno) for s in rest for n in lines)
    return RuleFigures(name, path, sets, besides)


def first(statement: ast.stmt) -> int:
    """The first line of a statement, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    return min(d.lineno for d in [statement, *decorators])


def is_rule(statement: ast.stmt, module: ModuleType) -> bool:
    """Whether a statement is an import, the pass, or a part of rules."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(statement, ast.ClassDef):
        return any(ast.unparse(b) == "ModulePass" for b in statement.bases)
    if isinstance(statement, ast.FunctionDef):
        returned = ast.unparse(statement.returns) if statement.returns else ""
        words = [ast.unparse(d).partition("(")[0].rpartition(".")[2] for d in statement.decorator_list]
        return not {"computed", "lower"}.isdisjoint(words) or returned in ("Rules", "Pattern", "OpPattern", "Equation")
    if isinstance(statement, (ast.For, ast.AugAssign, ast.Assign, ast.AnnAssign)):
        targets = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return any(is_part(vars(module).get(name)) for name in targets)
    return False


def is_part(value: object) -> bool:
    """Whether a value is a set of rules, a rule or a part of one, or several such."""
    if isinstance(value, (tuple, list)):
        return any(map(is_part, value))  # pyright: ignore[reportUnknownArgumentType]
    return isinstance(value, (Rules, Equation, Part))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--list", action="store_true", help="also each pass, with its lines besides rules")
    args = parser.parse_args(argv)
    found = list(passes())
    print(f"{sum(f.is_rules for f in found)} of {len(found)} passes are rules")
    for f in sorted(found, key=lambda f: (not f.is_rules, not f.sets, f.besides)) if args.list else ():
        kind = "rules" if f.is_rules else "has rules" if f.sets else ""
        print(f"  {f.name:<40}{f.besides:>5}  {kind}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
