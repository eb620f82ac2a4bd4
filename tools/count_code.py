"""Figures of the code by folder: lines, repeated passages, long functions, public functions without a docstring.

    python -m tools.count_code                      every room
    python -m tools.count_code dialects/relay       some folders or files
    python -m tools.count_code --list passes        and where each of the finds stands

A line of code is one that is neither blank, nor a comment, nor part of a docstring (texts below fields among them). A
passage is repeated where six lines of code or more stand elsewhere too, imports left out; each repetition counts once,
whatever its length.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ROOMS = ("dialects", "passes", "frontends", "backends", "lamina")
PASSAGE = 6
"""Lines of the shortest passage that counts as repeated."""
LONG = 60
"""Lines beyond which a function is long."""
SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Line(NamedTuple):
    """A line of code without what stands around it."""

    path: Path
    number: int
    text: str
    imports: bool


class CodeFigures(NamedTuple):
    """The counts and findings of some files; the places are `path:line`."""

    files: int
    lines: int
    repeated: list[str]
    long: list[str]
    undocumented: list[str]
    public: int
    """Public functions and methods."""


def python_files(places: Sequence[str]) -> list[Path]:
    """The files in some places, each once: links are not followed."""
    found: list[Path] = []
    for place in places:
        path = ROOT / place
        inside = [path] if path.is_file() else sorted(path.rglob("*.py"))
        found += [file for file in inside if not _is_linked(file, path)]
    return found


def _is_linked(file: Path, folder: Path) -> bool:
    """Whether a file is in a folder by way of a link."""
    return any(p != folder and p.is_relative_to(folder) and p.is_symlink() for p in file.parents)


def code_lines(path: Path) -> list[Line]:
    """The lines of a file that are code."""
    text = path.read_text("utf-8")
    rows: set[int] = set()
    for kind, _, (first, _), (last, _), _ in tokenize.generate_tokens(io.StringIO(text).readline):
        if kind not in SILENT:
            rows.update((first,) if first == last else range(first, last + 1))
    imports: set[int] = set()
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            rows.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    source = text.splitlines()
    return [Line(path, row, source[row - 1].strip(), row in imports) for row in sorted(rows)]


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements of a file at any depth, and what they are made of but for expressions, which are most of it."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack += [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr)]


def repeated_passages(files: Sequence[list[Line]]) -> Iterator[tuple[Line, Line]]:
    """The first lines of passages that stood before, each with the place where they did."""
    seen: dict[tuple[str, ...], Line] = {}
    for lines in files:
        body = [line for line in lines if not line.imports]
        inside = False
        for n in range(len(body) - PASSAGE + 1):
            key = tuple(line.text for line in body[n : n + PASSAGE])
            before = seen.setdefault(key, body[n])
            again = before is not body[n]
            if again and not inside:
                yield body[n], before
            inside = again


def functions(tree: ast.AST, is_public: bool = True) -> Iterator[tuple[FunctionNode, bool]]:
    """The functions and methods of a file, and whether others may call them: nested ones are nobody else's."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):  # most of a file, and none of it a function with a name
            continue
        if isinstance(node, FunctionNode):
            yield node, is_public and not node.name.startswith("_")
            yield from functions(node, False)
        else:
            hidden = isinstance(node, ast.ClassDef) and node.name.startswith("_")
            yield from functions(node, is_public and not hidden)


def count(places: Sequence[str]) -> CodeFigures:
    """The figures of some folders or files."""
    paths = python_files(places)
    files = [code_lines(path) for path in paths]
    long: list[str] = []
    undocumented: list[str] = []
    public = 0
    for path in paths:
        for node, is_public in functions(ast.parse(path.read_text("utf-8"))):
            place = f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
            if (node.end_lineno or node.lineno) - node.lineno + 1 > LONG:
                long.append(place)
            public += is_public
            if is_public and ast.get_docstring(node) is None:
                undocumented.append(place)
    return CodeFigures(len(paths), sum(map(len, files)), repeated(files), long, undocumented, public)


def repeated(files: Sequence[list[Line]]) -> list[str]:
    """The repeated passages of some files, a line each with both places."""
    return [
        f"{a.path.relative_to(ROOT)}:{a.number}: as {b.path.relative_to(ROOT)}:{b.number}"
        for a, b in repeated_passages(files)
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures of each place."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("places", nargs="*", default=list(ROOMS))
    parser.add_argument("--list", action="store_true", help="also where each find stands")
    args = parser.parse_args(argv)
    print(f"{'place':<24}{'files':>7}{'lines':>9}{'repeated':>10}{'long':>6}{'undocumented':>20}")
    for place in args.places:
        found = count([place])
        silent = f"{len(found.undocumented)} of {found.public}"
        print(f"{place:<24}{found.files:>7}{found.lines:>9}{len(found.repeated):>10}{len(found.long):>6}{silent:>20}")
        for line in (*found.repeated, *found.long, *found.undocumented) if args.list else ():
            print(f"  {line}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
