"""Writes which files a compilation goes through into `docs/tour/3-the-walk.md`, in the order in which it enters them.

    python -m tools.walk            rewrite the table
    python -m tools.walk --check    exit 1 when it is out of date

One relu is compiled from nothing, in one process, while every call is watched (`sys.setprofile`). What runs while a
module is imported is left out, and so are `dialects/` and the folders of passes, which are the subject of the page's
other half. The sentence beside a file is the first of its docstring.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

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


class Walk:
    """The files that calls have entered, each with the first function."""

    def __init__(self) -> None:
        self.entered: dict[str, str] = {}
        self._importing = threading.local()

    def watch(self, frame: FrameType, event: str, _: Any) -> None:
        """Takes in a call; what `sys.setprofile` wants."""
        code = frame.f_code
        depth: int = getattr(self._importing, "depth", 0)
        if code.co_name == "<module>":
            self._importing.depth = depth + {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not depth and code.co_filename not in self.entered:
            self.entered[code.co_filename] = code.co_qualname

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


def walked() -> list[tuple[str, str]]:
    """The files of a compilation outside `dialects/` and passes, in order, each with the function that is entered."""
    if hasattr(os, "sched_setaffinity"):
        # With one processor nothing is lowered in a copy of the process, where nobody would see it.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import lamina
    from lamina.backends.cpu.machines import FIGURES, SHIPPED

    # The files are the same on a machine that `lamina calibrate` has measured.
    os.environ[FIGURES] = SHIPPED

    walk = Walk()
    with TemporaryDirectory() as folder:
        model = Path(folder, "relu.mlir")
        model.write_text(RELU, "utf-8")
        with walk.watching():
            lamina.compile(str(model), threads=1, cache=False)
    paths = {name: Path(name).resolve() for name in walk.entered}
    ours = {n: p.relative_to(ROOT).as_posix() for n, p in paths.items() if p.is_file() and p.is_relative_to(ROOT)}
    return [(path, walk.entered[name]) for name, path in ours.items() if HERE.match(path)]


def first_sentence(path: Path) -> str:
    """The first sentence of a file's docstring, as one cell of a table."""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    sentence = " ".join(re.split(r"(?<=\.)\s|\n\n", text, maxsplit=1)[0].split()).rstrip(":.")
    shown = sentence if len(sentence) <= LONGEST else sentence.partition(": ")[0]
    return shown.replace("|", "\\|")


def table() -> str:
    """The rows of the page."""
    rows = walked()
    lines = [f"{len(rows)} files:\n", "| | file | enters by | what it says of itself |", "|--:|---|---|---|"]
    for n, (path, function) in enumerate(rows, 1):
        lines.append(f"| {n} | `{path}` | `{function}` | {first_sentence(ROOT / path)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the table, or say that it is out of date."""
    return write_or_check(PAGE, "tools.walk", table())


if __name__ == "__main__":
    sys.exit(main())
