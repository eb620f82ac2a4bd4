"""Instruments that watch the passes of a PassContext, under TVM's names.

    timing = PassTimingInstrument()
    with lamina.transform.PassContext(opt_level=3, instruments=[timing, PrintAfterAll()]):
        lamina.compile(model, cache=False)
    print(timing.render())

An instrument overrides the hooks it needs. `should_run` may refuse a pass, unless the context requires it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class PassInfo:
    """A pass as contexts and instruments see it: its level, its name, the passes that must have run before it."""

    opt_level: int
    name: str
    required: tuple[str, ...] = ()
    traceable: bool = False


class PassInstrument:
    """The hooks; every one does nothing here. They are given what `view` makes of a module."""

    def view(self, module: ModuleOp, info: PassInfo) -> Any:
        """The view of a module before or after a pass for the hooks: here the module itself, which may change later."""
        return module

    def enter_pass_ctx(self) -> None:
        """The context begins."""

    def exit_pass_ctx(self) -> None:
        """The context ends, also by an exception."""

    def should_run(self, mod: ModuleOp, info: PassInfo) -> bool:
        """Whether the pass may run."""
        return True

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """The pass is about to run."""

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """The pass has run."""


_HOOKS = ("enter_pass_ctx", "exit_pass_ctx", "should_run", "run_before_pass", "run_after_pass")


def pass_instrument(cls: type[Any]) -> Callable[..., PassInstrument]:
    """Makes a class with some of the hooks an instrument: TVM's decorator."""
    if issubclass(cls, PassInstrument):
        return cls
    hooks = {h: getattr(cls, h) for h in _HOOKS if hasattr(cls, h)}
    if not hooks:
        raise TypeError(f"{cls.__name__} has none of the hooks {', '.join(_HOOKS)}")
    return type(cls.__name__, (cls, PassInstrument), {"__doc__": cls.__doc__, **hooks})


class PassTimingInstrument(PassInstrument):
    """The time of every pass, by its name, in the order of first use."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self._started: list[float] = []

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        self._started.append(perf_counter())

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        spent = perf_counter() - self._started.pop()
        self.seconds[info.name] = self.seconds.get(info.name, 0.0) + spent
        self.counts[info.name] = self.counts.get(info.name, 0) + 1

    def render(self) -> str:
        """A line a pass: milliseconds, share of the whole, how often it ran."""
        total = sum(self.seconds.values()) or 1.0
        rows = [
            f"{s * 1e3:10.3f} ms  {100 * s / total:5.1f}%  {self.counts[name]:3} x  {name}"
            for name, s in self.seconds.items()
        ]
        return "\n".join([*rows, f"{sum(self.seconds.values()) * 1e3:10.3f} ms  total"])


class PassPrintingInstrument(PassInstrument):
    """Prints the module before and after the passes of the given names."""

    def __init__(
        self,
        print_before_pass_names: Sequence[str] = (),
        print_after_pass_names: Sequence[str] = (),
        stream: TextIO | None = None,
    ) -> None:
        self.before = frozenset(print_before_pass_names)
        self.after = frozenset(print_after_pass_names)
        self.stream = stream

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        if info.name in self.before:
            self.show("Before", mod, info)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        if info.name in self.after:
            self.show("After", mod, info)

    def show(self, when: str, mod: ModuleOp, info: PassInfo) -> None:
        """Print the module to the stream, by default stderr."""
        print(f"// -- {when} {info.name} --\n{mod}\n", file=self.stream or sys.stderr)


class PrintBeforeAll(PassPrintingInstrument):
    """Prints the module before every pass."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream=stream)

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        self.show("Before", mod, info)


class PrintAfterAll(PassPrintingInstrument):
    """Prints the module after every pass."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream=stream)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        self.show("After", mod, info)
