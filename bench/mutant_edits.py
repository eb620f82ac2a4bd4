"""Generation of faults: single edits of the sources that could be an engineer's slip.

    passes/relay/fold/fold_transpose.py:88 boundary  rank < 2  ->  rank <= 2

An edit replaces one piece of one line's syntax tree; it is known by a name of twelve digits that depends on its file,
the function it is in and the texts, not on the line, so that a list of edits outlives changes elsewhere in the file.
Operators after Offutt et al., "An experimental determination of sufficient mutant operators" (1996), with those that
a compiler's author makes: a condition of a rule that is missing, two strides exchanged, a guard left out.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

GROUPS: dict[str, tuple[str, ...]] = {
    "rules": (
        "passes/relay",
        "passes/rules/rewriting.py",
        "passes/rules/matching.py",
        "passes/rules/equations.py",
        "dialects/index/rules.py",
        "dialects/index/matching.py",
        "dialects/index/linear.py",
    ),
    "schedules": (
        "backends/cpu/schedules",
        "backends/cpu/passes",
        "backends/cpu/tiles.py",
        "backends/cpu/stages.py",
        "backends/cpu/winograd_costs.py",
    ),
    "stairs": (
        "passes/relay_to_te.py",
        "passes/te_to_tir",
        "passes/tir_to_llvm",
        "passes/tir",
        "dialects/tir",
        "dialects/te",
        "dialects/schedule",
    ),
    "runtime": (
        "lamina/runtime",
        "lamina/interpreters",
        "lamina/vm",
        "backends/llvm",
        "backends/cpu/runtime/modules.py",
        "backends/cpu/weights.py",
        "passes/arena.py",
    ),
}
"""Paths that are edited, by the part of the compiler: files, and all files of folders."""

BOUNDARY: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
EXCHANGED = {"min": "max", "max": "min", "any": "all", "all": "any"}
LOOSE = (ast.BinOp, ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)
"""Expressions that may need parentheses beside another operator."""
PER_FUNCTION = 6
"""Edits of one function at most: a long one would be drawn again and again."""


@dataclass(frozen=True)
class Edit:
    """One fault: `before` at an offset of a file becomes `after`."""

    file: str
    line: int
    start: int
    """Offset in the text, in characters."""
    before: str
    after: str
    operator: str
    function: str
    group: str
    name: str

    def __str__(self) -> str:
        short = [" ".join(text.split()) for text in (self.before, self.after)]
        return f"{self.file}:{self.line} {self.operator} in {self.function}: {short[0]}  ->  {short[1] or '(nothing)'}"

    def applied(self, text: str) -> str:
        """The text of the file with the fault. Raises ValueError where the file has changed since."""
        end = self.start + len(self.before)
        if text[self.start : end] != self.before:
            raise ValueError(f"{self.file}: what stands at line {self.line} is not {self.before!r}")
        return text[: self.start] + self.after + text[end:]


@cache
def edits_of(root: Path, group: str) -> list[Edit]:
    """All edits of a group below the root of a checkout, in the order of the files and of their lines."""
    found: list[Edit] = []
    for place in GROUPS[group]:
        path = root / place
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in files:
            found += edits_of_text(file.read_text(), str(file.relative_to(root)), group)
    return found


def edits_of_text(text: str, file: str, group: str) -> list[Edit]:
    """The edits of one file."""
    finder = _Finder(text, file, group)
    finder.visit(ast.parse(text))
    return finder.edits


class _Finder(ast.NodeVisitor):
    def __init__(self, text: str, file: str, group: str) -> None:
        self.text = text
        self.file = file
        self.group = group
        self.edits: list[Edit] = []
        self.functions = ["module"]
        self.counts: dict[str, int] = {}
        starts: list[tuple[int, str]] = []
        at = 0
        for line in text.splitlines(keepends=True):
            starts.append((at, line))
            at += len(line)
        self.lines = starts

    # -- places ----------------------------------------------------------------------------------------------------

    def offset(self, line: int, column: int) -> int:
        """A place of the tree, whose columns are bytes, as an offset in characters."""
        start, content = self.lines[line - 1]
        return start + len(content.encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def source(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def operand(self, node: ast.expr) -> str:
        """The source of what an operator takes, whose parentheses are no part of the tree."""
        text = self.source(node)
        return f"({text})" if isinstance(node, LOOSE) else text

    def add(self, operator: str, node: ast.expr | ast.stmt, after: str) -> None:
        start, end = self.span(node)
        before = self.text[start:end]
        function = ".".join(self.functions[1:]) or "module"
        if before == after or self.counts.get(function, 0) >= PER_FUNCTION:
            return
        self.counts[function] = self.counts.get(function, 0) + 1
        same = sum((e.function, e.before, e.after) == (function, before, after) for e in self.edits)
        key = "\0".join((self.file, function, operator, before, after, str(same)))
        name = hashlib.sha256(key.encode()).hexdigest()[:12]
        self.edits.append(Edit(self.file, node.lineno, start, before, after, operator, function, self.group, name))

    # -- what is not edited ----------------------------------------------------------------------------------------

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages are compared by no test to the letter."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        pass

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def _function(self, node: ast.FunctionDef) -> None:
        if node.name in ("__repr__", "__str__", "samples", "np_ref"):
            return  # texts, and the oracles that tests compare with
        self.functions.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self.functions.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.functions.append(node.name)
        self.generic_visit(node)
        self.functions.pop()

    # -- operators -------------------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> None:
        if self.source(node.test) == "TYPE_CHECKING":
            return
        last = node.body[-1]
        if len(node.body) == 1 and not node.orelse and isinstance(last, (ast.Return, ast.Continue, ast.Break)):
            self.add("drop-guard", node.test, "False")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = " and " if isinstance(node.op, ast.And) else " or "
        for n in range(len(node.values)):
            rest = [self.operand(v) for k, v in enumerate(node.values) if k != n]
            text = word.join(rest)
            self.add("drop-condition", node, text)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.add("drop-not", node, self.source(node.operand))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1 and type(node.ops[0]) in BOUNDARY:
            left, right = self.operand(node.left), self.operand(node.comparators[0])
            self.add("boundary", node, f"{left} {BOUNDARY[type(node.ops[0])]} {right}")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        left, right = self.operand(node.left), self.operand(node.right)
        one = isinstance(node.right, ast.Constant) and node.right.value == 1
        if _is_text(node.left) or _is_text(node.right):
            return
        if isinstance(node.op, (ast.Add, ast.Sub)) and one:
            self.add("off-by-one", node, left)
        elif isinstance(node.op, ast.Sub) and _is_place(node.left) and _is_place(node.right):
            self.add("exchange", node, f"{right} - {left}")
        elif isinstance(node.op, ast.FloorDiv):
            self.add("round-up", node, f"-(-{left} // {right})")
        elif isinstance(node.op, ast.Mod):
            self.add("drop-modulo", node, left)
        elif isinstance(node.op, ast.Mult):
            self.add("drop-factor", node, left)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.slice, ast.Constant) and node.slice.value in (0, 1) and isinstance(node.ctx, ast.Load):
            self.add("other-place", node, f"{self.source(node.value)}[{1 - int(node.slice.value)}]")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "when":
            for n in range(len(node.args)):
                rest = ", ".join(self.source(a) for k, a in enumerate(node.args) if k != n)
                start, end = self.offset(node.lineno, node.col_offset), self.span(function)[1]
                receiver = self.text[start : end - len("when")].rstrip().removesuffix(".").rstrip()
                self.add("drop-condition", node, f"{receiver}.when({rest})" if rest else receiver)
        if isinstance(function, ast.Name) and function.id in EXCHANGED:
            self.add("exchange", function, EXCHANGED[function.id])
        first, second = (node.args + [None, None])[:2]
        if len(node.args) == 2 and first is not None and second is not None and _is_place(first) and _is_place(second):
            called = self.source(function)
            rest = "".join(f", {self.source_of_keyword(k)}" for k in node.keywords)
            if called not in ("isinstance", "getattr", "hasattr", "cast"):
                self.add("exchange", node, f"{called}({self.source(second)}, {self.source(first)}{rest})")
        self.generic_visit(node)

    def source_of_keyword(self, keyword: ast.keyword) -> str:
        value = self.source(keyword.value)
        return f"**{value}" if keyword.arg is None else f"{keyword.arg}={value}"

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.add("drop-statement", node, "pass")
        self.generic_visit(node)


def _is_place(node: ast.expr) -> bool:
    """A name, or a part of one."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def generated(root: Path, per_group: int, skip: Callable[[str], bool] = lambda _: False) -> Iterator[Edit]:
    """The edits that are tried: so many of each group, drawn by their names, less those to skip."""
    for group in GROUPS:
        drawn = sorted((e for e in edits_of(root, group) if not skip(e.name)), key=lambda e: e.name)
        yield from drawn[:per_group]
