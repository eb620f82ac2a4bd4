"""`relay.expr_functor`: walking and rebuilding expressions. Nothing recurses along chains of calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.adt import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
)
from lamina.frontends.tvm_text.walk import children

_METHODS: dict[type[e.Expr], str] = {
    e.Call: "call", e.Var: "var", e.GlobalVar: "global_var", e.Constant: "constant", e.Function: "function",
    e.Tuple: "tuple", e.TupleGetItem: "tuple_getitem", e.Let: "let", e.If: "if", e.Op: "op",
    e.RefCreate: "ref_create", e.RefRead: "ref_read", e.RefWrite: "ref_write",
    Match: "match", Constructor: "constructor",
}  # fmt: skip


_REACH = 50
"""So many visits inside one another are left to Python's stack."""


class ExprFunctor:
    """A function of expressions by their kind: `visit_call`, `visit_var`, ...; each node is visited once."""

    def __init__(self) -> None:
        self.memo_map: dict[e.Expr, Any] = {}

    def visit(self, expr: Any) -> Any:
        """The result for an expression."""
        node: e.Expr = e.as_expr(expr)
        if node in self.memo_map:
            return self.memo_map[node]
        if self._depth >= _REACH:
            self._visit_below(node)
        self._depth += 1
        try:
            found = self._dispatch(node)
        finally:
            self._depth -= 1
        self.memo_map[node] = found
        return found

    _depth = 0

    def _dispatch(self, node: e.Expr) -> Any:
        kind = _METHODS.get(type(node))
        if kind is None:
            raise TypeError(f"{type(node).__name__} is no expression of Relay's")
        return getattr(self, f"visit_{kind}")(node)

    def _visit_below(self, node: e.Expr) -> None:
        """Visit what a node is computed from, the farthest first: Python's stack would not hold a long chain."""
        stack: list[tuple[e.Expr, bool]] = [(node, False)]
        while stack:
            at, ready = stack.pop()
            if at in self.memo_map:
                continue
            if ready or not isinstance(at, (e.Call, e.Tuple, e.TupleGetItem)):
                if at is not node:
                    self.memo_map[at] = self._dispatch(at)
                continue
            stack.append((at, True))
            stack.extend((c, False) for c in reversed(children(at)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("visit_"):
            raise NotImplementedError(f"{type(self).__name__} has no {name}")
        raise AttributeError(name)


class ExprVisitor(ExprFunctor):
    """Visits everything below a node once; override what is of interest and call super()."""

    def visit_call(self, call: Any) -> Any:
        self.visit(call.op)
        for a in call.args:
            self.visit(a)

    def visit_function(self, fn: Any) -> Any:
        for p in fn.params:
            self.visit(p)
        self.visit(fn.body)

    def visit_let(self, let: Any) -> Any:
        while isinstance(let, e.Let):
            self.visit(let.var)
            self.visit(let.value)
            last, let = let, let.body
            if isinstance(let, e.Let) and type(self).visit_let is not ExprVisitor.visit_let:
                break
            self.memo_map.setdefault(last, None)
        self.visit(let)

    def visit_if(self, i: Any) -> Any:
        self.visit(i.cond)
        self.visit(i.true_branch)
        self.visit(i.false_branch)

    def visit_tuple(self, tup: Any) -> Any:
        for f in tup.fields:
            self.visit(f)

    def visit_tuple_getitem(self, t: Any) -> Any:
        self.visit(t.tuple_value)

    def visit_ref_create(self, r: Any) -> Any:
        self.visit(r.value)

    def visit_ref_read(self, r: Any) -> Any:
        self.visit(r.ref)

    def visit_ref_write(self, r: Any) -> Any:
        self.visit(r.ref)
        self.visit(r.value)

    def visit_match(self, m: Any) -> Any:
        self.visit(m.data)
        for c in m.clauses:
            self.visit(c.rhs)

    def visit_constructor(self, con: Any) -> Any: ...
    def visit_var(self, var: Any) -> Any: ...
    def visit_op(self, op: Any) -> Any: ...
    def visit_constant(self, const: Any) -> Any: ...
    def visit_global_var(self, gvar: Any) -> Any: ...


class ExprMutator(ExprFunctor):
    """Rebuilds an expression; a method returns what is to stand there. What does not change stays the same node."""

    def visit_call(self, call: Any) -> Any:
        op, args = self.visit(call.op), [self.visit(a) for a in call.args]
        if op is call.op and _same(args, call.args):
            return call
        return e.Call(op, args, call.attrs, call.type_args, call.span)

    def visit_function(self, fn: Any) -> Any:
        params, body = [self.visit(p) for p in fn.params], self.visit(fn.body)
        if _same(params, fn.params) and body is fn.body:
            return fn
        return e.Function(params, body, fn.ret_type, fn.type_params, fn.attrs)

    def visit_match(self, m: Any) -> Any:
        data = self.visit(m.data)
        clauses = [Clause(self.visit_pattern(c.lhs), self.visit(c.rhs)) for c in m.clauses]
        pairs = zip(clauses, m.clauses, strict=True)
        if data is m.data and all(a.lhs is b.lhs and a.rhs is b.rhs for a, b in pairs):
            return m
        return Match(data, clauses, m.complete, m.span)

    def visit_pattern(self, pattern: Any) -> Any:
        """A pattern whose variables are visited."""
        inside: list[Pattern] = getattr(pattern, "patterns", [])
        found = [self.visit_pattern(p) for p in inside]
        if isinstance(pattern, PatternVar):
            variable = self.visit(pattern.var)
            return pattern if variable is pattern.var else PatternVar(variable)
        if _same(found, inside):
            return pattern
        if isinstance(pattern, PatternTuple):
            return PatternTuple(found)
        return PatternConstructor(pattern.constructor, found)

    def visit_constructor(self, con: Any) -> Any:
        return con

    def visit_let(self, let: Any) -> Any:
        chain: list[tuple[e.Let, Any, Any]] = []
        at = let
        while isinstance(at, e.Let):
            chain.append((at, self.visit(at.var), self.visit(at.value)))
            at = at.body
            if type(self).visit_let is not ExprMutator.visit_let:
                break
        body = self.visit(at)
        for node, variable, value in reversed(chain):
            same = variable is node.var and value is node.value and body is node.body
            body = node if same else e.Let(variable, value, body)
        return body

    def visit_if(self, i: Any) -> Any:
        parts = [self.visit(i.cond), self.visit(i.true_branch), self.visit(i.false_branch)]
        return i if _same(parts, [i.cond, i.true_branch, i.false_branch]) else e.If(*parts)

    def visit_tuple(self, tup: Any) -> Any:
        fields = [self.visit(f) for f in tup.fields]
        return tup if _same(fields, tup.fields) else e.Tuple(fields)

    def visit_tuple_getitem(self, op: Any) -> Any:
        of = self.visit(op.tuple_value)
        if of is op.tuple_value:
            return op
        # A tuple that stands there is taken apart at once.
        return of.fields[op.index] if isinstance(of, e.Tuple) else e.TupleGetItem(of, op.index)

    def visit_ref_create(self, r: Any) -> Any:
        value = self.visit(r.value)
        return r if value is r.value else e.RefCreate(value)

    def visit_ref_read(self, r: Any) -> Any:
        ref = self.visit(r.ref)
        return r if ref is r.ref else e.RefRead(ref)

    def visit_ref_write(self, r: Any) -> Any:
        parts = [self.visit(r.ref), self.visit(r.value)]
        return r if _same(parts, [r.ref, r.value]) else e.RefWrite(*parts)

    def visit_var(self, var: Any) -> Any:
        return var

    def visit_op(self, op: Any) -> Any:
        return op

    def visit_constant(self, const: Any) -> Any:
        return const

    def visit_global_var(self, gvar: Any) -> Any:
        return gvar


def _same(found: list[Any], before: Any) -> bool:
    return len(found) == len(before) and all(f is b for f, b in zip(found, before, strict=True))


class Substitution(ExprMutator):
    """Puts expressions in the place of others."""

    def __init__(self, binds: Mapping[Any, Any]) -> None:
        super().__init__()
        self.memo_map.update(binds)
        self.binds = binds

    def bind(self, expr: e.Expr) -> e.Expr:
        """The expression with them; parameters of a function that are bound go."""
        if not isinstance(expr, e.Function):
            return self.visit(expr)
        kept = [p for p in expr.params if p not in self.binds]
        return e.Function(kept, self.visit(expr.body), expr.ret_type, expr.type_params, expr.attrs)


def bind(expr: e.Expr, binds: Mapping[Any, Any]) -> Any:
    """Put expressions in the place of variables; parameters of the function that are bound go."""
    return Substitution({k: e.as_expr(v) for k, v in binds.items()}).bind(expr)
