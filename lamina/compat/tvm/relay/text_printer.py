"""Relay's own text format, printed: `mod.astext()`.

    #[version = "0.0.5"]
    def @main(%x: Tensor[(1, 3), float32]) -> Tensor[(1, 3), float32] {
      %0 = nn.relu(%x) /* ty=Tensor[(1, 3), float32] */;
      add(%0, meta[relay.Constant][0] /* ty=Tensor[(3), float32] */) /* ty=Tensor[(1, 3), float32] */
    }

    #[metadata]
    { ... }

Shared values have numbers. Constants that are no scalars stand in the metadata, which `parser.parse` reads back.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Block

from lamina.errors import LaminaError
from lamina.frontends.tvm_text import adt, ty
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.op_calls import non_default_attrs
from lamina.frontends.tvm_text.scopes import Scope, scopes_of, shared_inside
from lamina.frontends.tvm_text.walk import free_vars, operands_of

VERSION = '#[version = "0.0.5"]\n'


def astext(node: Any, show_meta_data: bool = True) -> str:
    """The text of a module or an expression."""
    printer = _Printer()
    if not isinstance(node, e.Expr):
        parts = [adt.type_data_text(d) for _, d in sorted(node.type_definitions.items(), key=lambda i: i[0].name_hint)]
        text = "\n".join([*parts, *(printer.definition(g.name_hint, f) for g, f in sorted_functions(node))])
    else:
        text = printer.expression(node)
    text = VERSION + text
    if not printer.constants:
        return text
    if not show_meta_data:
        return text + "\n/* the constants are left out: astext(show_meta_data=True) shows them */\n"
    return text + "\n#[metadata]\n" + printer.metadata() + "\n"


def sorted_functions(mod: Any) -> list[tuple[e.GlobalVar, e.Function]]:
    """The functions by their names."""
    return sorted(mod.functions.items(), key=lambda item: item[0].name_hint)


def number_text(value: Any) -> str:
    """A scalar: `1`, `1f`, `0.5f16`, `True`, `3i64`."""
    dtype = value.dtype.name
    if dtype == "bool":
        return "True" if value else "False"
    if value.dtype.kind in "iu":
        suffix = {"int32": ""}.get(dtype, f"{'i' if value.dtype.kind == 'i' else 'u'}{value.dtype.itemsize * 8}")
        return f"{int(value)}{suffix}"
    suffix = {"float32": "f", "float64": "f64", "float16": "f16"}[dtype]
    return f"{_digits(value)}{suffix}"


def _digits(value: Any) -> str:
    """The fewest digits that are read back as the same number."""
    if value.dtype.name == "float64":
        return repr(float(value))
    if value == 0:
        return "-0" if np.signbit(value) else "0"
    if 1e-4 <= abs(float(value)) < 1e9:
        return np.format_float_positional(value, unique=True, trim="-")
    return np.format_float_scientific(value, unique=True, trim="-", exp_digits=1)


def _is_scalar(node: e.Constant) -> bool:
    values = node.values
    known = values.dtype.name in ("float16", "float32", "float64") or values.dtype.kind in "iub"
    return values.ndim == 0 and known and (values.dtype.kind != "f" or math.isfinite(float(values)))


class _Lines:
    """The lines of a block, and how far they are indented."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.lines: list[str] = []

    def add(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)


class _Printer:
    def __init__(self) -> None:
        self.constants: list[e.Constant] = []
        self._places: dict[e.Constant, int] = {}
        self._names: dict[e.Expr, str] = {}
        self._taken: set[str] = set()
        self._count = 0
        self._scopes: dict[e.Expr, Scope] = {}

    def definition(self, name: str, function: e.Function) -> str:
        """`def @name(...) { ... }`."""
        self._scopes = scopes_of(function.body, Block()).of
        self._names.clear()
        self._taken.clear()
        self._count = 0
        lines = _Lines(1)
        head = self._head(function)
        self._block(function.body, lines)
        return f"def @{name}{head} {{\n" + "\n".join(lines.lines) + "\n}\n"

    def expression(self, node: e.Expr) -> str:
        """An expression with its free variables before it."""
        self._scopes = scopes_of(node, Block()).of
        lines = _Lines(0)
        for v in free_vars(node):
            annotation = v.type_annotation
            lines.add(
                f"free_var {self._variable(v)}{f': {ty.type_text(annotation)}' if annotation is not None else ''};"
            )
        self._block(node, lines)
        return "\n".join(lines.lines) + "\n"

    # -- functions and blocks ---------------------------------------------------------------------------

    def _head(self, function: e.Function) -> str:
        params: list[str] = []
        for p in function.params:
            type_ = p.type_annotation or p.__dict__.get("_type")
            params.append(self._variable(p) + (f": {ty.type_text(type_)}" if type_ is not None else ""))
        params += [f"{_key(k)}={_attribute(v)}" for k, v in function.attrs.items()]
        result = function.ret_type
        if result is None:
            try:
                result = function.checked_type.ret_type
            except LaminaError:
                result = None
        head = f"{ty.parameters_text(function.type_params).rstrip()}({', '.join(params)})"
        return head + (f" -> {ty.type_text(result)}" if result is not None else "")

    def _block(self, root: e.Expr, lines: _Lines) -> None:
        """Write what a block computes: each call on its line, the last one without a name."""
        while isinstance(root, e.Let):
            # A function may call itself by the name.
            name = self._variable(root.var)
            self._lines_for(root.value, lines, named=False)
            value = self._inline(root.value, lines)
            annotation = root.var.type_annotation
            lines.add(f"let {name}{f': {ty.type_text(annotation)}' if annotation is not None else ''} = {value};")
            root = root.body
        self._lines_for(root, lines, named=False)
        lines.add(self._inline(root, lines))

    def _lines_for(self, root: e.Expr, lines: _Lines, named: bool = True) -> None:
        """Lines for everything that a node reads, and for itself where it is to have a number."""
        stack: list[tuple[e.Expr, bool]] = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node in self._names or isinstance(node, (e.Constant, e.Op, e.GlobalVar, e.Var, adt.Constructor)):
                if isinstance(node, e.Var):
                    self._variable(node)
                continue
            if not ready:
                stack.append((node, True))
                shared = shared_inside(node, self._scopes)
                stack.extend((c, False) for c in reversed([*operands_of(node), *shared]))
                continue
            if (node is root and not named) or isinstance(node, e.TupleGetItem):
                continue
            if isinstance(node, e.Let):
                continue
            text = self._text(node, lines)
            lines.add(f"%{self._count} = {text};")
            self._names[node] = f"%{self._count}"
            self._count += 1

    def _inline(self, node: e.Expr, lines: _Lines) -> str:
        return self._names.get(node) or self._text(node, lines)

    def _variable(self, v: e.Var) -> str:
        found = self._names.get(v)
        if found is None:
            base = "".join(c if c.isalnum() or c in "_." else "_" for c in v.name_hint) or "v"
            base = f"v{base}" if base[0].isdigit() else base
            name, n = base, 1
            while name in self._taken:
                name, n = f"{base}{n}", n + 1
            self._taken.add(name)
            found = self._names[v] = f"%{name}"
        return found

    # -- nodes ----------------------------------------------------------------------------------------------

    def _text(self, node: e.Expr, lines: _Lines) -> str:
        if isinstance(node, e.Constant):
            return self._constant(node)
        if isinstance(node, e.Var):
            return self._variable(node)
        if isinstance(node, e.GlobalVar):
            return f"@{node.name_hint}"
        if isinstance(node, e.Op):
            return node.name
        if isinstance(node, adt.Constructor):
            return node.name_hint
        if isinstance(node, e.Tuple):
            inner = ", ".join(self._inline(f, lines) for f in node.fields)
            return f"({inner},)" if len(node.fields) == 1 else f"({inner})"
        if isinstance(node, e.TupleGetItem):
            return f"{self._inline(node.tuple_value, lines)}.{node.index}"
        if isinstance(node, e.Call):
            callee = self._inline(node.op, lines)
            if isinstance(node.op, adt.Constructor) and not node.args:
                return f"{callee}{self._type(node)}"
            if isinstance(node.op, e.Function) and node.op not in self._names:
                callee = f"({callee})"
            args = [self._inline(a, lines) for a in node.args]
            if isinstance(node.op, e.Op):
                args += [f"{k}={_attribute(v)}" for k, v in non_default_attrs(node.op.name, node.attrs).items()]
            return f"{callee}({', '.join(args)}){self._type(node)}"
        if isinstance(node, e.Function):
            inner = _Lines(lines.depth + 1)
            head = self._head(node)
            before = dict(self._names)
            self._block(node.body, inner)
            self._names = before
            return f"fn {head} {{\n" + "\n".join(inner.lines) + "\n" + "  " * lines.depth + "}"
        if isinstance(node, e.If):
            branches: list[str] = []
            for branch in (node.true_branch, node.false_branch):
                inner, before = _Lines(lines.depth + 1), dict(self._names)
                self._block(branch, inner)
                self._names = before
                branches.append("{\n" + "\n".join(inner.lines) + "\n" + "  " * lines.depth + "}")
            return f"if ({self._inline(node.cond, lines)}) {branches[0]} else {branches[1]}"
        if isinstance(node, adt.Match):
            return self._match(node, lines)
        if isinstance(node, e.Let):
            inner, before = _Lines(lines.depth + 1), dict(self._names)
            self._block(node, inner)
            self._names = before
            return "{\n" + "\n".join(inner.lines) + "\n" + "  " * lines.depth + "}"
        if isinstance(node, e.RefCreate):
            return f"ref({self._inline(node.value, lines)})"
        if isinstance(node, e.RefRead):
            return f"ref_read({self._inline(node.ref, lines)})"
        assert isinstance(node, e.RefWrite)
        return f"ref_write({self._inline(node.ref, lines)}, {self._inline(node.value, lines)})"

    def _match(self, node: adt.Match, lines: _Lines) -> str:
        """`match (%x) { Cons(%h, _) => { ... }, Nil => { ... } }`."""
        cases: list[str] = []
        for clause in node.clauses:
            inner, before = _Lines(lines.depth + 2), dict(self._names)
            pattern = self._pattern(clause.lhs)
            self._block(clause.rhs, inner)
            self._names = before
            indent = "  " * (lines.depth + 1)
            cases.append(f"{indent}{pattern} => {{\n" + "\n".join(inner.lines) + f"\n{indent}}},")
        head = f"match{'' if node.complete else '?'} ({self._inline(node.data, lines)}) {{\n"
        return head + "\n".join(cases) + "\n" + "  " * lines.depth + "}"

    def _pattern(self, pattern: adt.Pattern) -> str:
        if isinstance(pattern, adt.PatternVar):
            annotation = pattern.var.type_annotation
            return self._variable(pattern.var) + (f": {ty.type_text(annotation)}" if annotation is not None else "")
        if isinstance(pattern, adt.PatternConstructor):
            inner = ", ".join(map(self._pattern, pattern.patterns))
            return pattern.constructor.name_hint + (f"({inner})" if pattern.patterns else "")
        if isinstance(pattern, adt.PatternTuple):
            return f"({', '.join(map(self._pattern, pattern.patterns))}{',' if len(pattern.patterns) == 1 else ''})"
        return "_"

    def _type(self, node: e.Expr) -> str:
        found = node.__dict__.get("_type")
        return f" /* ty={ty.type_text(found)} */" if found is not None else ""

    def _constant(self, node: e.Constant) -> str:
        if _is_scalar(node):
            return f"{number_text(node.values[()])} /* ty={node.values.dtype.name} */"
        place = self._places.get(node)
        if place is None:
            place = self._places[node] = len(self.constants)
            self.constants.append(node)
        type_ = ty.TensorType(node.values.shape, node.values.dtype.name)
        return f"meta[relay.Constant][{place}] /* ty={ty.type_text(type_)} */"

    def metadata(self) -> str:
        """The constants: shapes, dtypes and bytes."""
        entries = [
            {
                "shape": list(c.values.shape),
                "dtype": c.values.dtype.name,
                "b64": base64.b64encode(np.ascontiguousarray(c.values).tobytes()).decode(),
            }
            for c in self.constants
        ]
        return json.dumps({"relay.Constant": entries}, indent=1)


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _attribute(value: Any) -> str:
    value = getattr(value, "value", value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_attribute(v) for v in cast('Sequence[Any]', value))}]"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, float):
        return f"{value!r}f" if math.isfinite(value) else repr(value)
    return "None" if value is None else str(value)
