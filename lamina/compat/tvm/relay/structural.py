"""Whether two expressions, types or modules are written alike, whatever their variables are called."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from lamina.frontends.tvm_text import adt, ty
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.op_calls import default_attrs, non_default_attrs

_LEAVES = (e.Constant, e.Op, e.GlobalVar, e.TupleGetItem, adt.Constructor)
"""Nodes that are compared by their contents: one object that is used twice is no other than two equal ones."""


class _Difference(Exception):
    """Two things differ; the text says how."""


class _Comparison:
    def __init__(self, map_free_vars: bool) -> None:
        self.map_free_vars = map_free_vars
        self.pairs: dict[Any, Any] = {}
        self.back: dict[Any, Any] = {}
        self.work: list[tuple[Any, Any]] = []
        self.type_names: dict[Any, Any] = {}

    def run(self, a: Any, b: Any) -> None:
        self.work.append((a, b))
        while self.work:
            self.compare(*self.work.pop())

    def bind(self, a: e.Var, b: e.Var) -> None:
        """Let two variables be the same one."""
        self.pairs[a], self.back[b] = b, a
        if (
            a.type_annotation is not None
            and b.type_annotation is not None
            and ty.replaced(a.type_annotation, self.type_names) != b.type_annotation
        ):
            raise _Difference(f"%{a.name_hint} is {a.type_annotation}, %{b.name_hint} {b.type_annotation}")

    def compare(self, a: Any, b: Any) -> None:
        if isinstance(a, e.TupleWrapper):
            a = a.tuple_value
        if isinstance(b, e.TupleWrapper):
            b = b.tuple_value
        if isinstance(a, e.Var) and isinstance(b, e.Var):
            return self._variables(a, b)
        if isinstance(a, e.Expr) and a in self.pairs:
            if self.pairs[a] is not b:
                raise _Difference("a value that one side uses twice is two values on the other")
            return
        if type(a) is not type(b):
            raise _Difference(f"{type(a).__name__} differs from {type(b).__name__}")
        if isinstance(a, _LEAVES):
            self._nodes(a, b)
        elif isinstance(a, e.Expr):
            if b in self.back:
                raise _Difference("a value that one side uses twice is two values on the other")
            self.pairs[a], self.back[b] = b, a
            self._nodes(a, b)
        elif isinstance(a, ty.Type):
            if a != b:
                raise _Difference(f"type {a} differs from {b}")
        elif not _same(a, b):
            raise _Difference(f"{a!r} differs from {b!r}")

    def _variables(self, a: e.Var, b: e.Var) -> None:
        if a in self.pairs or b in self.back:
            if self.pairs.get(a) is not b:
                raise _Difference(f"%{a.name_hint} stands where %{b.name_hint} does")
        elif self.map_free_vars:
            self.bind(a, b)
        elif a is not b:
            raise _Difference(f"%{a.name_hint} and %{b.name_hint} are two variables")

    def _nodes(self, a: Any, b: Any) -> None:
        work = self.work
        if isinstance(a, e.Call):
            self._lengths(a.args, b.args, "arguments")
            self._attributes(a, b)
            work += zip([a.op, *a.args], [b.op, *b.args], strict=True)
        elif isinstance(a, e.Function):
            self._lengths(a.params, b.params, "parameters")
            self._lengths(a.type_params, b.type_params, "type parameters")
            self.type_names.update(zip(a.type_params, b.type_params, strict=True))
            for p, q in zip(a.params, b.params, strict=True):
                self.bind(p, q)
            if not _same(_plain(a.attrs), _plain(b.attrs)):
                raise _Difference(f"function attributes {dict(a.attrs)} differ from {dict(b.attrs)}")
            work.append((a.body, b.body))
        elif isinstance(a, e.Tuple):
            self._lengths(a.fields, b.fields, "fields")
            work += zip(a.fields, b.fields, strict=True)
        elif isinstance(a, e.Constant):
            if not _same(a.values, b.values):
                raise _Difference("constants differ")
        elif isinstance(a, e.TupleGetItem):
            if a.index != b.index:
                raise _Difference(f"field {a.index} differs from field {b.index}")
            work.append((a.tuple_value, b.tuple_value))
        elif isinstance(a, e.Let):
            self.bind(a.var, b.var)
            work += [(a.body, b.body), (a.value, b.value)]
        elif isinstance(a, adt.Match):
            self._match(a, b)
        elif isinstance(a, adt.Constructor):
            if (a.belong_to, a.name_hint) != (b.belong_to, b.name_hint):
                raise _Difference(f"the constructor {a.name_hint} differs from {b.name_hint}")
        elif isinstance(a, (e.GlobalVar, e.Op)):
            name = "name_hint" if isinstance(a, e.GlobalVar) else "name"
            if getattr(a, name) != getattr(b, name):
                raise _Difference(f"{getattr(a, name)} differs from {getattr(b, name)}")
        else:
            from lamina.frontends.tvm_text.walk import children

            work += zip(children(a), children(b), strict=True)

    def _match(self, a: adt.Match, b: adt.Match) -> None:
        self._lengths(a.clauses, b.clauses, "clauses")
        if a.complete != b.complete:
            raise _Difference("a match that is complete differs from one that is not")
        for c, d in zip(a.clauses, b.clauses, strict=True):
            if _pattern_shape(c.lhs) != _pattern_shape(d.lhs):
                raise _Difference("the patterns of two clauses differ")
            for v, w in zip(adt.pattern_vars(c.lhs), adt.pattern_vars(d.lhs), strict=True):
                self.bind(v, w)
        self.work += [(c.rhs, d.rhs) for c, d in zip(a.clauses, b.clauses, strict=True)]
        self.work.append((a.data, b.data))

    def _lengths(self, a: Any, b: Any, what: str) -> None:
        if len(a) != len(b):
            raise _Difference(f"{len(a)} {what} differ from {len(b)}")

    def _attributes(self, a: e.Call, b: e.Call) -> None:
        if isinstance(a.op, e.Op) and isinstance(b.op, e.Op) and a.op is b.op:
            sides = [_plain(non_default_attrs(c.op.name, c.attrs)) for c in (a, b)]
            # One that is near a default is shown beside one that is it.
            near = {k for k in sides[0].keys() ^ sides[1].keys() if isinstance({**sides[0], **sides[1]}[k], float)}
            defaults = default_attrs(a.op.name) if near else {}
            if not _same(*({**{k: defaults.get(k) for k in near}, **side} for side in sides)):
                raise _Difference(f"{a.op.name}: attributes {sides[0]} differ from {sides[1]}")


ATTRIBUTE_TOLERANCE = 1e-9
"""Attributes that are numbers are equal up to this, as in TVM: 1e-5 is one that was a float32 in between."""


def _plain(attrs: Mapping[str, Any]) -> dict[str, Any]:
    return {k: getattr(v, "value", v) for k, v in attrs.items()}


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        x, y = cast("e.Array", np.asarray(cast("Any", a))), cast("e.Array", np.asarray(cast("Any", b)))
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        x, y = cast("Mapping[str, Any]", a), cast("Mapping[str, Any]", b)
        return x.keys() == y.keys() and all(_same(x[k], y[k]) for k in x)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        items = (list(cast("Any", a)), list(cast("Any", b)))
        return len(items[0]) == len(items[1]) and all(map(_same, *items))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) < ATTRIBUTE_TOLERANCE
    return bool(a == b)


def _compare_types(lhs: Any, rhs: Any) -> None:
    sides = [{g.name_hint: d for g, d in m.type_definitions.items()} for m in (lhs, rhs)]
    if sides[0].keys() != sides[1].keys():
        raise _Difference(f"data types {sorted(sides[0])} differ from {sorted(sides[1])}")
    for name, data in sides[0].items():
        other = sides[1][name]
        facts: list[Any] = []
        for d in (data, other):
            numbered = {v: ty.TypeVar(f"{n}") for n, v in enumerate(d.type_vars)}
            facts.append([(c.name_hint, [ty.replaced(t, numbered) for t in c.inputs]) for c in d.constructors])
        if len(data.type_vars) != len(other.type_vars) or facts[0] != facts[1]:
            raise _Difference(f"the data type {name} differs")


def _compare(lhs: Any, rhs: Any, map_free_vars: bool) -> None:
    from lamina.compat.tvm.ir_module import IRModule
    from lamina.compat.tvm.nd import NDArray

    if isinstance(lhs, IRModule) and isinstance(rhs, IRModule):
        _compare_types(lhs, rhs)
        sides = [{g.name_hint: f for g, f in m.functions.items()} for m in (lhs, rhs)]
        if sides[0].keys() != sides[1].keys():
            raise _Difference(f"functions {sorted(sides[0])} differ from {sorted(sides[1])}")
        for name in sides[0]:
            _Comparison(map_free_vars).run(sides[0][name], sides[1][name])
        return
    if isinstance(lhs, NDArray) and isinstance(rhs, NDArray):
        lhs, rhs = lhs.numpy_view, rhs.numpy_view
    _Comparison(map_free_vars).run(lhs, rhs)


def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> bool:
    """Whether two things are written alike."""
    try:
        _compare(lhs, rhs, map_free_vars)
    except _Difference:
        return False
    return True


def assert_structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> None:
    """Raise ValueError saying how two things differ."""
    try:
        _compare(lhs, rhs, map_free_vars)
    except _Difference as difference:
        raise ValueError(f"the two are not structurally equal: {difference}\n{lhs}\n{rhs}") from None


def structural_hash(node: Any, map_free_vars: bool = False) -> int:
    """A number that is the same for what is structurally equal."""
    from lamina.compat.tvm.ir_module import IRModule

    if isinstance(node, IRModule):
        parts = sorted((g.name_hint, structural_hash(f, map_free_vars)) for g, f in node.functions.items())
        return _digest(repr(parts))
    if not isinstance(node, e.Expr):
        return _digest(repr(node))
    return _digest(repr(_shape_of(node, map_free_vars)))


def _shape_of(root: e.Expr, map_free_vars: bool) -> list[Any]:
    """The expression without names: for each node what it is and the numbers of its parts, in order of their ends."""
    from lamina.frontends.tvm_text.walk import bound_by, children, post_order

    number: dict[e.Expr, int] = {}
    leaves: dict[str, int] = {}
    bound = {v for n in post_order(root) for v in bound_by(n)}
    lines: list[Any] = []
    for node in post_order(root):
        number[node] = len(lines)
        if isinstance(node, e.Var):
            known = node in bound or map_free_vars
            lines.append(("Var",) if known else ("free", id(node)))
            continue
        facts: Any = None
        if isinstance(node, e.Constant):
            facts = (node.values.dtype.name, node.values.shape, hashlib.sha256(node.values.tobytes()).hexdigest())
        elif isinstance(node, e.Op):
            facts = node.name
        elif isinstance(node, e.GlobalVar):
            facts = node.name_hint
        elif isinstance(node, e.TupleGetItem):
            facts = node.index
        elif isinstance(node, adt.Constructor):
            facts = (node.belong_to.name_hint, node.name_hint)
        elif isinstance(node, adt.Match):
            facts = (node.complete, [_pattern_shape(c.lhs) for c in node.clauses])
        elif isinstance(node, e.Call) and isinstance(node.op, e.Op):
            facts = sorted((k, repr(_as_list(v))) for k, v in non_default_attrs(node.op.name, node.attrs).items())
        if isinstance(node, _LEAVES):
            # Whether it is one object or several equal ones is of no interest.
            of = [number[c] for c in children(node)]
            number[node] = leaves.setdefault(repr((type(node), facts, of)), len(lines))
            if number[node] != len(lines):
                continue
        lines.append((type(node).__name__, facts, [number[c] for c in children(node)]))
    return lines


def _pattern_shape(pattern: adt.Pattern) -> Any:
    """A pattern without the names of its variables."""
    if isinstance(pattern, (adt.PatternConstructor, adt.PatternTuple)):
        name = pattern.constructor.name_hint if isinstance(pattern, adt.PatternConstructor) else ""
        return (name, [_pattern_shape(p) for p in pattern.patterns])
    return type(pattern).__name__


def _as_list(value: Any) -> Any:
    return [_as_list(v) for v in cast("Any", value)] if isinstance(value, (list, tuple)) else value


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little", signed=True)
