"""The imports of Lamina's files, those inside functions as well, and the circles among them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("dialects", "passes", "frontends", "backends", "lamina")
TYPES = "TYPE_CHECKING"


class Import(NamedTuple):
    module: str
    for_types: bool
    """Whether it is there for type checkers alone."""


def modules() -> dict[str, Path]:
    """The files by the names of their modules; the links in `lamina/` are not followed."""
    found: dict[str, Path] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if parts[0] == "lamina" and parts[1] in FOLDERS:
                continue
            name = ".".join(("lamina", *parts) if parts[0] != "lamina" else parts)
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def import_graph() -> dict[str, set[Import]]:
    """The imports of each Python module from the others, by its name; the files are read once."""
    files = modules()
    return {name: imports_of(name, files) for name in files}


def imports_of(name: str, files: Mapping[str, Path]) -> set[Import]:
    """The imports of one module from the others among files, as `modules` gives them."""
    found: set[Import] = set()
    for module, for_types in _named(ast.parse(files[name].read_text("utf-8")), False):
        while module and module not in files:
            module = module.rpartition(".")[0]
        if module and module != name:
            found.add(Import(module, for_types))
    return found


def _named(node: ast.AST, for_types: bool) -> Iterator[tuple[str, bool]]:
    """The modules that a tree names in imports; of `from a import b` it is a.b, which may be a name in a."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):  # most of a file, and none of it an import
            continue
        if isinstance(child, ast.If) and any(isinstance(n, ast.Name) and n.id == TYPES for n in ast.walk(child.test)):
            yield from _named(ast.Module(child.body, []), True)
            yield from _named(ast.Module(child.orelse, []), for_types)
            continue
        if isinstance(child, ast.Import):
            yield from ((alias.name, for_types) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from ((f"{child.module}.{alias.name}", for_types) for alias in child.names)
        yield from _named(child, for_types)


def circles(graph: Mapping[str, set[str]]) -> list[frozenset[str]]:
    """The strongly connected components of more than one module (Tarjan 1972), the largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[frozenset[str]] = []

    def visit(start: str) -> None:
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            module, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in stack:
                    low[module] = min(low[module], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[module])
                if low[module] == index[module]:
                    at = stack.index(module)
                    part = frozenset(stack[at:])
                    del stack[at:]
                    if len(part) > 1:
                        found.append(part)

    for module in graph:
        if module not in index:
            visit(module)
    return sorted(found, key=lambda part: (-len(part), sorted(part)))
