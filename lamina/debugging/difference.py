"""Result of a comparison of steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation

from lamina.debugging.bisect import scheduled
from lamina.ir.diagnostics import op_text, source_position


@dataclass(frozen=True)
class Difference:
    """A change that a step made to a result, or the failure of a run after it."""

    step: str
    """The text of a primitive or the name of a pass."""
    where: str
    """`file:line:col` of a primitive."""
    buffer: str = ""
    index: tuple[int, ...] = ()
    expected: Any = None
    got: Any = None
    failure: str = ""
    rule: str = ""
    """The edit that did it: `simplify_expr.py:55  %7 -> %9 (2 of 5)`."""
    changed: str = ""
    """The first op that the pass changes, where it was no edit by itself."""

    def __str__(self) -> str:
        step = f"{self.step} ({self.where})" if self.where else self.step
        if self.failure:
            return f"{step}: {self.failure}"
        place = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        return f"{step}: result {self.buffer!r}{place} is {self.got}, expected {self.expected}"

    def details(self) -> list[str]:
        """The guilty edit, or the op that the pass changed first, as lines of text."""
        return [f"edit {self.rule}"] if self.rule else [f"first op that changes: {self.changed}"] * bool(self.changed)


@dataclass
class Comparison:
    """The steps that were run, in order, and the first that differs."""

    steps: list[str] = field(default_factory=list[str])
    difference: Difference | None = None
    sampled: bool = False
    """Whether steps were found by halving: then `steps` are those that were looked at."""

    def __str__(self) -> str:
        if self.difference is not None:
            return "\n".join([f"first difference: {self.difference}", *self.difference.details()])
        return f"{self.steps[-1]} agrees" if self.sampled else f"all {len(self.steps)} steps agree"


def is_step(step: str, wanted: str) -> bool:
    """Whether a step is the one that somebody names: a pass without its options, or a primitive's text or name."""
    return step == wanted or step.partition("{")[0] == wanted or f"{wanted} " in f"{step} " and wanted.startswith("te.")


@dataclass(frozen=True)
class Source:
    """The lines of a text, to quote primitives from."""

    lines: Sequence[str]
    file: str

    def told(self, primitive: Operation) -> tuple[str, str]:
        """The text of a primitive as it stands in the file, and its place; as it is printed where it is not there."""
        found = source_position(primitive.location)
        count = 0
        if found is not None and found[0] == self.file and 0 < found[1] <= len(self.lines):
            count = sum(1 for n in _names_on(self.lines[found[1] - 1]) if n == primitive.name)
        if found is None or not count:  # a pass has written it
            return f"{op_text(primitive)} of @{scheduled(primitive)}", ""
        file, line, column = found
        text = self.lines[line - 1].strip()
        if count != 1:  # several on one line: its own part of the line
            text = self.lines[line - 1][column - 1 :].strip()
        return text, f"{file}:{line}:{column}"


def _names_on(line: str) -> list[str]:
    return [word for word in line.split() if word.startswith("te.")]
