"""Differences between two texts of IR, with the loops around it; the rest is cut, and `...` says where.

tir.for %i = 0 to 8 "C.i" {
  ...
  tir.for %j = 0 to 16 vectorized "C.j" {
...
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

LONGEST = 60
"""Lines of one picture; a longer one ends with the number of lines left out."""


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _closes(line: str) -> bool:
    return line.lstrip().startswith("}")


def with_surroundings(lines: Sequence[str], kept: set[int]) -> set[int]:
    """Also the lines that open and close the regions around the kept ones."""
    open_: list[int] = []
    parent: dict[int, int] = {}
    head: dict[int, int] = {}
    group: dict[int, list[int]] = {}
    for n, line in enumerate(lines):
        if _closes(line) and open_:
            top = open_.pop()
            group[top].append(n)
            head[n] = top
            if line.endswith("{"):  # `} do {`
                open_.append(top)
            continue
        if open_:
            parent[n] = open_[-1]
        if line.endswith("{"):
            open_.append(n)
            head[n], group[n] = n, [n]
    found: set[int] = set()
    for n in kept:
        at: int | None = n
        while at is not None and at not in found:
            first = head.get(at, at)
            found |= {at, *group.get(first, ())}
            at = parent.get(first)
    return found


def cut(lines: Sequence[str], kept: set[int], longest: int = LONGEST) -> list[str]:
    """The kept lines; each run of others as `...`, unless it is a single line. No more than `longest` in all."""
    shown: list[str] = []
    n = 0
    while n < len(lines):
        if n in kept:
            shown.append(lines[n])
            n += 1
            continue
        end = n
        while end < len(lines) and end not in kept:
            end += 1
        shown += [lines[n]] if end == n + 1 else [" " * min(map(indent_of, lines[n:end])) + "..."]
        n = end
    if len(shown) > longest:
        shown = [*shown[: longest - 1], f"... ({len(shown) - longest + 1} more lines)"]
    return shown


def changes(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both texts cut to what differs. A line that only moved in or out is the same line."""
    matcher = SequenceMatcher(None, [row.strip() for row in before], [row.strip() for row in after], autojunk=False)
    old: set[int] = set()
    new: set[int] = set()
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            # Where one side has nothing, the neighbours say where it would stand.
            old |= set(range(a, b)) or set(range(max(a - 1, 0), min(a + 1, len(before))))
            new |= set(range(c, d)) or set(range(max(c - 1, 0), min(c + 1, len(after))))
    return (
        cut(before, with_surroundings(before, old)),
        cut(after, with_surroundings(after, new)),
    )


def whole(lines: Sequence[str], longest: int = LONGEST) -> list[str]:
    """A text that is not compared with another; only its length is limited."""
    return cut(lines, set(range(len(lines))), longest)
