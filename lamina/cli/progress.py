"""Progress of long work: one live line on a terminal, silence in a pipe; or a line for each stage, on request.

`LAMINA_PROGRESS=off` keeps a terminal silent, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TextIO

LEVELS = ("import", "relay", "te", "tir", "llvm")
_OWN = {"import": "import", "emit-llvm": "llvm", "pack-weights": "llvm", "llvm-codegen": "llvm"}


def stage_of(step: str, current: str) -> str:
    """The level that a step works on or leads to; a target's own pass belongs to the level it stands in."""
    if step in _OWN:
        return _OWN[step]
    head, _, tail = step.partition("-to-")
    if tail in LEVELS:
        return tail
    dialect = head.partition("-")[0]
    if step == "cpu-schedule":
        return "te"
    return dialect if dialect in LEVELS else current


def is_live(stream: TextIO) -> bool:
    """Whether a line of a stream can be written over, and somebody wants to see it."""
    wanted = os.environ.get("LAMINA_PROGRESS", "").lower() not in ("off", "0", "no")
    return wanted and stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class LiveLine:
    """A line of a terminal that is written over, twice a second at most; nothing elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._live = stream, is_live(stream)
        self._shown, self._width = 0.0, 0

    def show(self, text: Callable[[], str]) -> None:
        """Write the line, where it is long enough since the last time."""
        now = perf_counter()
        if not self._live or now - self._shown < 0.5:
            return
        self._shown = now
        said = text()
        self._stream.write(f"\r{said.ljust(self._width)}")
        self._stream.flush()
        self._width = len(said)

    def clear(self) -> None:
        """Leave an empty line, for what is to be printed."""
        if self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()
            self._width = 0


@dataclass
class Stage:
    """Steps of one level so far."""

    name: str
    seconds: float = 0.0
    steps: int = 0
    notes: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        steps = f"{self.steps} step{'s' if self.steps > 1 else ''}"
        return f"{self.name:<8}{self.seconds:7.2f} s   {steps:<10}{', '.join(self.notes)}".rstrip()


class StageProgress:
    """A progress callback. As a context manager it ends the last stage and clears the live line."""

    def __init__(self, stream: TextIO | None = None, lines: bool = False) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.lines = lines
        """Print a line for each finished stage, on a terminal or not."""
        self.stages: list[Stage] = []
        self.steps: list[tuple[str, float, str]] = []
        self._live: Any = None
        self._start = perf_counter()

    def __enter__(self) -> StageProgress:
        if is_live(self.stream):
            from rich.console import Console

            self._live = Console(file=self.stream).status("starting", spinner="line")
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self.lines and self.stages:
            self._print(str(self.stages[-1]))

    def __call__(self, step: str, seconds: float, note: str = "") -> None:
        """A step has ended."""
        self.steps.append((step, seconds, note))
        name = stage_of(step, self.stages[-1].name if self.stages else "relay")
        if not self.stages or self.stages[-1].name != name:
            if self.lines and self.stages:
                self._print(str(self.stages[-1]))
            self.stages.append(Stage(name))
        stage = self.stages[-1]
        stage.seconds += seconds
        stage.steps += 1
        if note:
            stage.notes.append(note)
        if self._live is not None:
            self._live.update(f"{name}: {step} ({perf_counter() - self._start:.1f} s)")

    def table(self) -> str:
        """All steps with their times."""
        rows = [f"{seconds:9.3f} s  {step:<32}{note}".rstrip() for step, seconds, note in self.steps]
        return "\n".join([*rows, f"{sum(s for _, s, _ in self.steps):9.3f} s  total"])

    def _print(self, text: str) -> None:
        if self._live is not None:
            self._live.console.print(text, markup=False, highlight=False)
        else:
            self.stream.write(text + "\n")
            self.stream.flush()
