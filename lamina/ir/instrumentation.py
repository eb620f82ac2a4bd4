"""Actions of opt-tool around passes: verify, print the IR, show what changed, measure time. All output to stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lamina.errors import InputError, InternalError
from lamina.ir.pipeline import Hooks
from lamina.ir.verification import VerificationError, unlocated_op, verify_module


class InvalidAfterPass(InternalError):
    """A pass left IR that does not verify."""

    def __init__(self, pass_: ModulePass, cause: VerificationError) -> None:
        super().__init__(f"after pass '{pass_.name}': {cause.what}", op=cause.op)
        self.notes = cause.notes


@dataclass
class Timer:
    """Wall-clock time by a tree of names."""

    name: str = "Total"
    seconds: float = 0.0
    children: dict[str, Timer] = field(default_factory=dict[str, "Timer"])

    def __post_init__(self) -> None:
        self._stack: list[Timer] = [self]

    def start(self, name: str) -> None:
        node = self._stack[-1].children.setdefault(name, Timer(name))
        node.seconds -= time.perf_counter()
        self._stack.append(node)

    def stop(self) -> None:
        self._stack.pop().seconds += time.perf_counter()

    @contextmanager
    def of(self, name: str) -> Generator[None]:
        self.start(name)
        try:
            yield
        finally:
            self.stop()

    def as_json(self) -> dict[str, object]:
        found: dict[str, object] = {"name": self.name, "seconds": round(self.seconds, 6)}
        if self.children:
            found["children"] = [c.as_json() for c in self.children.values()]
        return found

    def report(self, kind: str) -> str:
        self.seconds = sum(c.seconds for c in self.children.values())
        if kind == "json":
            import json

            return json.dumps(self.as_json()) + "\n"
        lines = ["---- wall time ----  ---- name ----"]

        def show(node: Timer, depth: int) -> None:
            share = 100 * node.seconds / self.seconds if self.seconds else 0.0
            lines.append(f"{node.seconds:10.4f} ({share:5.1f}%)  {'  ' * depth}{node.name}")
            for child in node.children.values():
                show(child, depth + 1)

        show(self, 0)
        return "\n".join(lines) + "\n"


class TimeHook(Hooks):
    """Measures each pass; the time until a failure counts too."""

    def __init__(self, timer: Timer) -> None:
        self.timer = timer

        self.running = False

    def before(self, pass_: ModulePass, op: Operation) -> None:
        self.timer.start(pass_.name)
        self.running = True

    def after(self, pass_: ModulePass, op: Operation) -> None:
        self.timer.stop()
        self.running = False

    def failed(self, pass_: ModulePass, op: Operation, error: BaseException) -> None:
        if self.running:
            self.timer.stop()


class VerifyHook(Hooks):
    """Verifies after each pass."""

    def __init__(self, timer: Timer) -> None:
        self.timer = timer

    def after(self, pass_: ModulePass, op: Operation) -> None:
        with self.timer.of(f"verify after {pass_.name}"):
            try:
                verify_module(op)
            except VerificationError as e:
                raise InvalidAfterPass(pass_, e) from e


class LocationHook(Hooks):
    """Every op that leaves a pass knows where it comes from."""

    def after(self, pass_: ModulePass, op: Operation) -> None:
        lost = unlocated_op(op)
        if lost is not None:
            raise InternalError(f"pass '{pass_.name}' leaves {lost.name} without a location", op=lost)


@dataclass
class PrintOptions:
    """The passes around which the IR is printed. As in mlir-opt, `after_change` and `after_failure` narrow `after` and
    `after_all`; what goes to files in `tree_dir` is not printed as well."""

    before: set[str]
    after: set[str]
    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    after_failure: bool = False
    diff: bool = False
    tree_dir: Path | None = None

    def any(self) -> bool:
        shown = (self.before_all, self.after_all, self.after_change, self.after_failure, self.diff)
        return bool(self.before or self.after or any(shown) or self.tree_dir)


class PrintHook(Hooks):
    """Prints the IR around passes as the options say."""

    def __init__(self, options: PrintOptions, text_of: Callable[[Operation], str], err: TextIO) -> None:
        self.options = options
        self.text_of = text_of
        self.err = err
        self.count = 0
        self._old = ""

    def _show(self, title: str, text: str) -> None:
        self.err.write(f"// -----// IR Dump {title} //----- //\n{text}\n")

    def before(self, pass_: ModulePass, op: Operation) -> None:
        o = self.options
        if o.diff or o.after_change:
            self._old = self.text_of(op)
        if o.before_all or pass_.name in o.before:
            self._show(f"Before {pass_.name}", self.text_of(op))

    def after(self, pass_: ModulePass, op: Operation) -> None:
        o = self.options
        dumped = not o.after_failure and (self._named(pass_) or (o.after_change and self._none_named()))
        new = self.text_of(op) if dumped or o.diff or o.tree_dir else ""
        changed = new != self._old
        if dumped and not o.tree_dir and (changed or not o.after_change):
            self._show(f"After {pass_.name}", new)
        if o.diff and changed:
            from difflib import unified_diff

            lines = unified_diff(
                self._old.splitlines(), new.splitlines(), f"before {pass_.name}", f"after {pass_.name}", lineterm=""
            )
            self.err.write("\n".join(lines) + "\n")
        if o.tree_dir is not None:
            self._keep(o.tree_dir, f"{self.count:02}_{pass_.name}.mlir", new)
        self.count += 1

    def failed(self, pass_: ModulePass, op: Operation, error: BaseException) -> None:
        if self._named(pass_) or (self.options.after_failure and self._none_named()):
            self._show(f"After {pass_.name} Failed", self.text_of(op))

    def _named(self, pass_: ModulePass) -> bool:
        return self.options.after_all or pass_.name in self.options.after

    def _none_named(self) -> bool:
        """Whether the options do not say after which passes: `after_change` and `after_failure` then mean all."""
        return not (self.options.after_all or self.options.after)

    @staticmethod
    def _keep(folder: Path, name: str, text: str) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        except OSError as e:
            raise InputError(f"cannot write: {e.strerror}", where=str(folder / name)) from None
