"""The lit tests that serve as examples: read, run in this process, and searched for what they expect to be refused."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.ir.printing import print_op
from lamina.ir.registry import Registry
from lamina.ir.verification import verify_module
from lamina.opt_tool import options
from lamina.opt_tool.expected import read
from lamina.opt_tool.options import SPLIT_MARKER
from tools.reference.declarations import ROOT, IncompleteReference

TESTS = ROOT / "test"
_REGISTRY = Registry()


@dataclass(frozen=True)
class Example:
    """One piece of a lit test."""

    path: Path
    text: str
    pipelines: tuple[str, ...]
    """The pipelines of the file's RUN lines for `opt-tool -p` where they expect success; an empty one only parses."""

    @property
    def link(self) -> str:
        """A link from a page to the file."""
        name = self.path.relative_to(ROOT)
        return f"[`{name}`](../../{name})"

    @property
    def caption(self) -> str:
        """The text of the comments before the first line of IR."""
        rows: list[str] = []
        for row in self.text.split("\n"):
            comment = re.match(r"\s*//\s?(.*)", row)
            if comment is None and row.strip():
                break
            if comment is not None and not re.search(r"\b(RUN|[A-Z0-9]+(-[A-Z]+)?):|expected-", comment[1]):
                rows.append(comment[1].strip())
        return " ".join(r for r in rows if r)

    def context(self) -> LaminaContext:
        ctx = LaminaContext()
        ctx.source_path = self.path
        return ctx

    def parse(self, ctx: LaminaContext) -> ModuleOp:
        """The verified module. Raises IncompleteReference where it does not parse."""
        try:
            module = parse_text(ctx, self.text, str(self.path))
            verify_module(module)
            ctx.open_params(module)
        except Exception as e:
            raise IncompleteReference(f"{self.path.relative_to(ROOT)}: {e}") from e
        return module


def text_of(module: ModuleOp, ctx: LaminaContext) -> list[str]:
    """The lines of a module as opt-tool prints it, out of the `builtin.module` that has nothing to say."""
    lines = [row for row in print_op(module, ctx).split("\n") if row.strip()]
    if lines[0] == "builtin.module {":
        return [row[2:] for row in lines[1:-1]]
    return lines


def run(module: ModuleOp, ctx: LaminaContext, passes: list[ModulePass], what: str) -> None:
    """Run passes on an example. Raises IncompleteReference where one fails."""
    try:
        run_pipeline(module, ctx, passes)
        verify_module(module)
    except Exception as e:
        raise IncompleteReference(f"{what}: {e}") from e


def passes_of(pipeline: str) -> list[ModulePass]:
    return parse_pipeline(pipeline, _REGISTRY)


def _pipelines(path: Path, text: str) -> tuple[str, ...]:
    """Of each RUN line that is one plain opt-tool, the pipeline."""
    found: list[str] = []
    for line in re.findall(r"// RUN: (.*)", text.replace("%S", os.path.relpath(path.parent, ROOT))):
        for command in re.split(r"\s(?:&&|\|)\s", line):
            try:
                words = shlex.split(command)
            except ValueError:
                continue
            if words[:1] != ["opt-tool"] or "2>&1" in words:
                continue
            args = options.parse(words[1:])
            if not (args.verify_diagnostics or args.run_reproducer or args.load or args.run):
                found.append(options.pipeline_of(args))
    return tuple(dict.fromkeys(found))


@cache
def examples_in(path: Path) -> tuple[Example, ...]:
    """The pieces of a lit test; those that must be refused are left out."""
    text = path.read_text("utf-8")
    pipelines = _pipelines(path, text)
    if not pipelines:
        return ()
    pieces = re.split(rf"^{SPLIT_MARKER}\s*$", text, flags=re.M)
    return tuple(Example(path, piece, pipelines) for piece in pieces if "expected-error" not in piece)


@dataclass(frozen=True)
class Refusal:
    """A message that a test expects of opt-tool on a line."""

    message: str
    line: str
    path: Path


@cache
def refusals_in(folder: Path) -> tuple[Refusal, ...]:
    """All errors that the lit tests of a folder and its folders expect, in the order of file names."""
    found: list[Refusal] = []
    for path in sorted(folder.rglob("*.mlir")):
        text = path.read_text("utf-8")
        if "expected-error" not in text:
            continue
        rows = text.split("\n")
        for expectation in read(text)[0]:
            if expectation.severity == "error":
                line = rows[expectation.line - 1].strip() if 0 < expectation.line <= len(rows) else ""
                message = re.sub(r"\{\{.*?\}\}", "...", expectation.text)
                found.append(Refusal(message, line, path))
    return tuple(found)


def refusals(found: list[Refusal]) -> list[str]:
    """Refusals as a list, each with the test that shows it."""
    rows = [f"- `{r.message}` ([test](../../{r.path.relative_to(ROOT)}))" for r in dict.fromkeys(found)]
    return ["Refuses:", "", *rows, ""] if rows else []


def mentions(line: str, op: str) -> bool:
    """Whether a line of IR holds an op of that name."""
    return re.search(rf"(?<![\w.]){re.escape(op)}(?![\w.])", line) is not None
