"""Watching of passes as the command line asks for it: traces and limits of firings, and statistics."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from typing import TextIO

from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lamina.errors import UsageError
from lamina.ir.pipeline import Hooks

Count = Callable[[], Mapping[str, int]]
"""Counts of events since the tool began, by the event's name; a row of the statistics for each."""

FRAME = f"==={'-' * 73}==="


class Firings(StringIO, Hooks):
    """Takes the trace of the rules: shows it while the passes run for which it is asked, and counts the firings."""

    def __init__(self, shown: TextIO, passes: set[str] | None) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self._shown = shown
        self._passes = passes
        """Those that are shown, all where it is None."""
        self._current = ""
        self._line = ""

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self._current = pass_.name

    def write(self, s: str, /) -> int:
        from lamina.debugging.fuel import firings_of

        *lines, self._line = (self._line + s).split("\n")
        for line in lines:
            self.counts.update(f"fired {firing.split()[0]}" for firing in firings_of(line))
            if self._passes is None or self._current in self._passes:
                self._shown.write(f"{line}\n")
        return len(s)

    def so_far(self) -> Mapping[str, int]:
        """The firings by rule: a `Count`."""
        return Counter(self.counts)


@dataclass
class _Row:
    """A pass in the statistics."""

    title: str
    before: int = 0
    after: int = 0
    counted: Counter[str] = field(default_factory=Counter[str])


class Statistics(Hooks):
    """Ops before and after each pass, and what the counts say happened in it."""

    def __init__(self, counts: Sequence[Count]) -> None:
        self._counts = counts
        self._rows: dict[int, _Row] = {}
        self._ops = 0
        self._so_far: Counter[str] = Counter()

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self._ops = _ops_in(op)
        self._so_far = self._all()

    def after(self, pass_: ModulePass, op: Operation) -> None:
        # A pass that runs on several ops, or on several pieces of the input, has one row.
        where = "" if op.parent is None else f" on {op.name}"
        row = self._rows.setdefault(id(pass_), _Row(pass_.name + where))
        row.before += self._ops
        row.after += _ops_in(op)
        row.counted.update(self._all() - self._so_far)

    def _all(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for count in self._counts:
            found.update(count())
        return found

    def report(self) -> str:
        """The statistics as mlir-opt lays them out."""
        lines = [FRAME, "... Pass statistics report ...".center(len(FRAME)).rstrip(), FRAME]
        for row in self._rows.values():
            lines.append(row.title)
            numbers = {"ops before": row.before, "ops after": row.after, **dict(sorted(row.counted.items()))}
            width = max(len(str(n)) for n in numbers.values())
            lines += [f"  (S) {n:{width}} {what}" for what, n in numbers.items()]
        return "\n".join(lines) + "\n"


def _ops_in(op: Operation) -> int:
    return sum(1 for _ in op.walk())


@contextmanager
def watched(args: argparse.Namespace, debug_only: set[str], err: TextIO) -> Generator[list[Hooks]]:
    """While it lasts, what the options ask for is traced, counted and limited; the hooks are to hear of every pass."""
    if not (args.trace_rules or debug_only or args.pass_statistics or args.fuel is not None):
        yield []
        return
    from lamina.dialects import edit

    if args.fuel is not None and args.fuel < 0:
        raise UsageError(f"--fuel is a number of edits, not {args.fuel}")
    firings = Firings(err, None if args.trace_rules else debug_only)
    statistics = Statistics([firings.so_far, lambda: {"edits": edit.edits_made()}]) if args.pass_statistics else None
    traced = args.trace_rules or debug_only or statistics is not None
    try:
        edit.trace(firings if traced else None)
        edit.limit(args.fuel)
        yield [firings, *([statistics] if statistics is not None else [])]
    finally:
        edit.trace(None)
        edit.limit(None)
    if statistics is not None:
        err.write(statistics.report())
