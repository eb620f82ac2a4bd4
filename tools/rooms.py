"""Writes the drawing of the rooms into `docs/architecture.md`, from the imports of their files.

    python -m tools.rooms            rewrite the drawing
    python -m tools.rooms --check    exit 1 when it is out of date

Imports for type checkers do not count, those inside functions do. An arrow that follows from others is left out.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping

from tools.import_graph import import_graph
from tools.page_parts import ROOT, write_or_check

PAGE = ROOT / "docs" / "architecture.md"
LAST = "compat"
"""The room that nobody is to import: an arrow to it is drawn as what it is, an exception."""


def room_of(module: str) -> str:
    """The room of a module: `dialects` of `lamina.dialects.te.ops`, "" of `lamina` itself."""
    return module.split(".")[1] if "." in module else ""


def arrows() -> dict[str, set[str]]:
    """The rooms that each room imports."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module, imports in import_graph().items():
        for other in imports:
            here, there = room_of(module), room_of(other.module)
            if not other.for_types and here and there and here != there:
                found[here].add(there)
    return dict(found)


def reaches(graph: Mapping[str, set[str]], start: str, end: str) -> bool:
    """Whether a path of two arrows or more leads from one room to another."""
    stack, seen = [room for room in graph.get(start, ()) if room != end], set[str]()
    while stack:
        room = stack.pop()
        if room not in seen:
            seen.add(room)
            if end in graph.get(room, ()):
                return True
            stack += graph.get(room, ())
    return False


def drawing() -> str:
    """The rooms as a graph for Mermaid."""
    graph = arrows()
    stacked = {room: others - {LAST} for room, others in graph.items()}
    lines = ["```mermaid", "graph TD"]
    for room in sorted(graph):
        for other in sorted(graph[room]):
            if other == LAST:
                lines.append(f"    {room} -.-> {other}")
            elif not reaches(stacked, room, other):
                lines.append(f"    {room} --> {other}")
    return "\n".join([*lines, "```"]) + "\n"


def main() -> int:
    """Write the drawing, or say that it is out of date."""
    return write_or_check(PAGE, "tools.rooms", drawing())


if __name__ == "__main__":
    sys.exit(main())
