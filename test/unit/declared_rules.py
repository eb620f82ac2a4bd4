"""Every equation of the tree, found by its `Rules`: no list by hand, and a check that none is missed."""

from __future__ import annotations

import ast
import gc
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from lamina.dialects.rules.patterns import Composite
from lamina.dialects.rules.terms import Equation
from lamina.passes.rules.rewriting import Rules

ROOT = Path(__file__).parents[2]
ROOMS = ("passes", "backends")


def rule_files() -> list[Path]:
    """The files of passes and backends that make sets of rules."""
    files = sorted(f for room in ROOMS for f in (ROOT / room).rglob("*.py"))
    return [f for f in files if "Rules(" in f.read_text("utf-8") and f.stem != "rewriting"]


def module_of(file: Path) -> ModuleType:
    return import_module("lamina." + ".".join(file.relative_to(ROOT).with_suffix("").parts))


def name_of(rule: Equation) -> str:
    return f"{Path(rule.written[0]).name}:{rule.written[1]}"


@cache
def all_rules() -> tuple[Equation, ...]:
    """The equations of all `Rules` at the top of a file, each once."""
    found: dict[int, Equation] = {}
    for file in rule_files():
        for value in vars(module_of(file)).values():
            if isinstance(value, Rules):
                found.update((id(e), e) for e in value.equations)
    return tuple(found.values())


def equations_outside() -> list[str]:
    """Equations that the files made and that stand in no set at the top of one; tables of composites are no rules.

    A function that makes a set for each machine may have made others by now: where an equation is written tells it.
    """
    known = {e.written for e in all_rules()}
    rooms = tuple(str((ROOT / room).resolve()) for room in ROOMS)
    made = (o for o in gc.get_objects() if type(o) is Equation and not isinstance(o.right, Composite))
    return [name_of(e) for e in made if e.written not in known and str(Path(e.written[0]).resolve()).startswith(rooms)]


def functions_never_called() -> list[str]:
    """Functions that make sets of rules and that nothing at the top of their file calls: they would go unseen."""
    found: list[str] = []
    for file in rule_files():
        tree = ast.parse(file.read_text("utf-8"))
        makers = [f for f in tree.body if isinstance(f, ast.FunctionDef) and _calls(f, "Rules")]
        top = [s for s in tree.body if not isinstance(s, (ast.FunctionDef, ast.ClassDef))]
        found += [f"{file.name}: {f.name}" for f in makers if not any(_calls(s, f.name) for s in top)]
    return found


def _calls(tree: ast.AST, name: str) -> bool:
    calls = (n for n in ast.walk(tree) if isinstance(n, ast.Call))
    return any(isinstance(c.func, ast.Name) and c.func.id == name for c in calls)
