"""Writes which files a compilation goes through into `docs/tour/3-the-walk.md`, in the order in which it enters them.

    python -m tools.walk            rewrite the tables
    python -m tools.walk --check    exit 1 when they are out of date

One relu is compiled from nothing, in one process, while every call is watched (`sys.setprofile`). What runs while a
module is imported is left out, and so are `dialects/` and the folders of passes, which are the subject of the page's
other half. A file is on the way when one of its functions is among the callers of an end: a pass that is applied, a
kernel's text for LLVM, its machine code, the loaded library. The others are asked on the way. The sentence beside a
file is the first of its docstring.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import threading
from collections.abc import Container, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tools.page_parts import ROOT, write_or_check

PAGE = ROOT / "docs" / "tour" / "3-the-walk.md"
RELU = """func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %y = relay.nn.relu %x : tensor<1024xf32>
  return %y : tensor<1024xf32>
}
"""
LONGEST = 100
"""Of a longer sentence only what stands before its colon is shown."""
HERE = re.compile(r"(lamina|frontends)/|backends/(?!\w+/passes/)")
PASS = re.compile(r"/passes/.*\.py$")


class Walk:
    """The files that calls have entered, each with the first function, and those on the way to the `ends`.

    An end is a function by its code; the application of a pass always is one.
    """

    def __init__(self, ends: Container[CodeType] = ()) -> None:
        self.entered: dict[str, str] = {}
        self.on_the_way: set[str] = set()
        self._ends = ends
        self._importing = threading.local()

    def watch(self, frame: FrameType, event: str, _: Any) -> None:
        """Takes in a call; what `sys.setprofile` wants."""
        code = frame.f_code
        depth: int = getattr(self._importing, "depth", 0)
        if code.co_name == "<module>":
            self._importing.depth = depth + {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not depth:
            self.entered.setdefault(code.co_filename, code.co_qualname)
            if code in self._ends or code.co_name == "apply" and PASS.search(code.co_filename):
                self.on_the_way |= set(_callers(frame))

    @contextmanager
    def watching(self) -> Generator[None]:
        """Watches while it lasts, on all threads."""
        threading.setprofile(self.watch)
        sys.setprofile(self.watch)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def _callers(frame: FrameType | None) -> Iterator[str]:
    """The files of a frame and of who waits for it."""
    while frame is not None:
        yield frame.f_code.co_filename
        frame = frame.f_back


class WalkedFile(NamedTuple):
    """A file outside `dialects/` and passes that a compilation has entered by `function`."""

    path: str
    function: str
    on_the_way: bool


def walked() -> list[WalkedFile]:
    """The files that the compilation of a relu enters, in order."""
    if hasattr(os, "sched_setaffinity"):
        # With one processor nothing is lowered in a copy of the process, where nobody would see it.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import lamina
    from lamina.backends.cpu.jit import compile_object, link_objects
    from lamina.backends.cpu.machines import FIGURES, SHIPPED
    from lamina.backends.llvm.emit import emit_kernel

    # The files are the same on a machine that `lamina calibrate` has measured.
    os.environ[FIGURES] = SHIPPED

    walk = Walk({function.__code__ for function in (emit_kernel, compile_object, link_objects)})
    with TemporaryDirectory() as folder:
        model = Path(folder, "relu.mlir")
        model.write_text(RELU, "utf-8")
        with walk.watching():
            lamina.compile(str(model), threads=1, cache=False)
    paths = {name: Path(name).resolve() for name in walk.entered}
    ours = {n: p.relative_to(ROOT).as_posix() for n, p in paths.items() if p.is_file() and p.is_relative_to(ROOT)}
    return [WalkedFile(p, walk.entered[n], n in walk.on_the_way) for n, p in ours.items() if HERE.match(p)]


def first_sentence(path: Path) -> str:
    """The first sentence of a file's docstring, as one cell of a table."""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    sentence = " ".join(re.split(r"(?<=\.)\s|\n\n", text, maxsplit=1)[0].split()).rstrip(":.")
    shown = sentence if len(sentence) <= LONGEST else sentence.partition(": ")[0]
    return shown.replace("|", "\\|")


def _rows(steps: Iterable[WalkedFile]) -> list[str]:
    """A table of files."""
    rows = ["| | file | enters by | what it says of itself |", "|--:|---|---|---|"]
    for n, (path, function, _) in enumerate(steps, 1):
        rows.append(f"| {n} | `{path}` | `{function}` | {first_sentence(ROOT / path)} |")
    return rows


def tables() -> str:
    """The files on the way, then those that they ask."""
    steps = walked()
    way = [step for step in steps if step.on_the_way]
    asked = [step for step in steps if not step.on_the_way]
    lines = [f"**The way** goes through {len(way)} files:\n", *_rows(way)]
    lines += [f"\n**On the way** {len(asked)} more are asked:\n", *_rows(asked)]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the tables, or say that they are out of date."""
    return write_or_check(PAGE, "tools.walk", tables())


if __name__ == "__main__":
    sys.exit(main())
