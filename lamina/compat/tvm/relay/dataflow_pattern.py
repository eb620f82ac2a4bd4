"""`relay.dataflow_pattern`: our patterns (`lamina.dataflow_pattern`), matched against and rewriting expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast
from weakref import WeakKeyDictionary

from xdsl.dialects import func
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.relay.from_ir import Reader
from lamina.compat.tvm.relay.rewriting import built
from lamina.dataflow_pattern import (
    FunctionPattern,
    Pattern,
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    is_constant,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.rules.graph_patterns import SameAs
from lamina.errors import LaminaError
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text import ty
from lamina.frontends.tvm_text.module import globals_of
from lamina.frontends.tvm_text.scopes import scopes_of
from lamina.frontends.tvm_text.to_ir import Body, Builder, infer_type_of
from lamina.frontends.tvm_text.unify import UNKNOWN, is_known
from lamina.frontends.tvm_text.walk import all_vars, free_vars, post_order
from lamina.passes.rules import dataflow_partition as ours

DFPattern = Pattern


def is_typed(expr: e.Expr) -> bool:
    """Whether all variables of an expression have types, or get them from their uses."""
    variables = [v for v in all_vars(expr) if v.__dict__.get("_type") is None]
    if not variables:
        return True
    if any(isinstance(n, e.Let) for n in post_order(expr)):
        bound = {n.var for n in post_order(expr) if isinstance(n, e.Let)}
        variables = [v for v in variables if v not in bound]
    try:
        infer_type_of(expr)
    except LaminaError:
        return False
    return all(v.__dict__.get("_type") is not None for v in variables)


def has_type(ttype: Any, pattern: Pattern | None = None) -> Pattern:
    """A value of a type."""
    from lamina.dataflow_pattern import has_type as has_our_type

    wanted: Any = ty.to_ir(ttype) if isinstance(ttype, ty.Type) else ttype
    return has_our_type(wanted) if pattern is None else pattern.has_type(wanted)


def is_expr(expr: Any) -> Pattern:
    """A value that is written like an expression; its variables are themselves."""
    return SameAs(_Program(expr, as_value=True).results[0], _same_variable)


_VARIABLES: WeakKeyDictionary[SSAValue, e.Var] = WeakKeyDictionary()
"""The variables that arguments of programs are made of."""


def _same_variable(a: SSAValue, b: SSAValue) -> bool:
    found = _VARIABLES.get(a)
    return found is not None and found is _VARIABLES.get(b)


class _Program:
    """An expression as a function of our IR, which may be matched and changed, and is read back."""

    def __init__(self, expr: Any, as_value: bool = False, mod: Any = None) -> None:
        """With `as_value` a function is a value inside, not the program itself."""
        self.expr: e.Expr = e.as_expr(expr)
        self.store = ParamStore()
        self.draft = not is_typed(self.expr)
        """Whether variables have no types that anything says: then nor have the values that are made of them."""
        builder = Builder(self.store, draft=self.draft)
        self.mod = mod
        if mod is not None:
            builder.find_global, builder.instances = globals_of(mod.functions, self.store)
        if isinstance(self.expr, e.Function) and not as_value:
            self.variables = list(self.expr.params)
            self.body, results = builder.function(self.expr, None)
        else:
            self.variables = free_vars(self.expr)
            self.body = Body(None, Block())
            for v in self.variables:
                type_ = UNKNOWN if self.draft and v.__dict__.get("_type") is None else ty.to_ir(v.checked_type)
                builder.parameter(self.body, v, len(self.body.block.args), type_)
            scopes = scopes_of(self.expr, self.body.block)
            made = builder.emit(self.expr, scopes.root, self.body, scopes.of)
            if isinstance(self.expr, e.Tuple) and as_value:
                results = [builder.one(made, self.body.block)]
            else:
                results = builder.results(made, self.body, self.body.block)
        _VARIABLES.update((value, v) for v in self.variables if isinstance(value := self.body.made.get(v), SSAValue))
        self.body.block.add_op(func.ReturnOp(*results))
        for value in [*self.body.block.args, *results]:
            builder.now(value)
        types = [v.type for v in results]
        self.function = func.FuncOp.from_region("main", self.body.block.arg_types, types, Region(self.body.block))
        builder.unknowns.settle(self.function, "the expression")

    @property
    def results(self) -> list[SSAValue]:
        """The values that the expression computes: the operands of the body's last op."""
        return list(cast(Operation, self.body.block.last_op).operands)

    def reader(self) -> Reader:
        """Reads the program as it is now; variables are the ones that were given."""
        known = {g.name_hint: g for g in self.mod.functions} if self.mod is not None else None
        reader = Reader(self.store, known, self.mod.type_definitions if self.mod is not None else None)
        for v in self.variables:
            reader.nodes[cast(SSAValue, self.body.made[v])] = v
        return reader

    def read(self) -> e.Expr:
        """The expression that the program is now."""
        reader, values = self.reader(), self.results
        found = reader.node(values[0]) if len(values) == 1 else e.Tuple([reader.node(v) for v in values])
        if isinstance(self.expr, e.Function):
            return e.Function(self.expr.params, found, self.expr.ret_type, self.expr.type_params, self.expr.attrs)
        return found


class _Nodes(Mapping[Pattern, list[e.Expr]]):
    """The expressions that the parts of a pattern matched."""

    def __init__(self, found: ours.NodeMap, reader: Reader) -> None:
        self._found = found
        self._reader = reader

    def __getitem__(self, key: Pattern) -> list[e.Expr]:
        return [self._reader.node(v) for v in self._found[key]]

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


class DFPatternCallback:
    """A rewrite: subclass, set `pattern`, write `callback(pre, post, node_map)`, which returns what is to stand there.

    `pre` and `post` are the expression that was matched, with what has been rewritten below it; `post` leaves it.
    """

    pattern: Pattern | None = None

    def __init__(self, require_type: bool = False, rewrite_once: bool = False) -> None:
        self.require_type = require_type
        self.rewrite_once = rewrite_once

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no callback")

    def rewrite(self, expr: Any) -> Any:
        """The expression, rewritten."""
        return rewrite(self, expr)


class _OnValues(ours.DFPatternCallback):
    """A callback on expressions as one on values of a program."""

    def __init__(self, callback: DFPatternCallback, program: _Program) -> None:
        super().__init__(callback.require_type, callback.rewrite_once)
        self.pattern = callback.pattern
        self._written = callback
        self.program = program

    @property
    def written(self) -> type[Any]:
        return type(self._written)

    def callback(self, pre: SSAValue, post: SSAValue, node_map: ours.NodeMap) -> SSAValue | None:
        reader = self.program.reader()
        node = reader.node(post)
        found = e.as_expr(self._written.callback(node, node, _Nodes(node_map, reader)))
        if found is node or found is None:
            return None
        value, made = built(found, reader, self.program.store, self.program.draft)
        op = cast(Operation, post.owner)
        # What one of the two is not known to be the other one says.
        for one, other in ((post, value), (value, post)):
            if not is_known(one.type):
                cast("Any", one)._type = other.type
        assert op.parent is not None
        for each in made:
            op.parent.insert_op_before(each, op)
        return value


def rewrite(callbacks: Any, expr: Any, mod: Any = None) -> Any:
    """Apply callbacks until none changes anything: the expression that comes of it.

    Global functions that it calls, and constructors that it uses, are those of `mod`.
    """
    several = cast("Sequence[Any]", callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
    program = _Program(expr, mod=mod)
    if not ours.rewrite([_OnValues(c, program) for c in several], program.function):
        return expr
    return program.read()


def match(pattern: Pattern, expr: Any) -> bool:
    """Whether a pattern matches an expression."""
    return bool(ours.match(pattern, _Program(expr, as_value=True).results[0]))


def partition(
    pattern: Pattern,
    expr: Any,
    attrs: Mapping[str, Any] | None = None,
    check: Callable[[Any], bool] = lambda x: True,
) -> Any:
    """Put every match into a function that is called in its place: the expression that comes of it."""
    program = _Program(expr)
    given = {k: getattr(v, "value", v) for k, v in (attrs or {}).items()}
    if not ours.partition(pattern, program.function, given, lambda v: bool(check(program.reader().node(v)))):
        return expr
    return program.read()


def _partition_method(
    self: Pattern, expr: Any, attrs: Mapping[str, Any] | None = None, check: Callable[[Any], bool] = lambda x: True
) -> Any:
    return partition(self, expr, attrs, check)


_has_our_type: Any = Pattern.has_type


def _has_type_method(self: Pattern, ttype: Any) -> Pattern:
    return _has_our_type(self, ty.to_ir(ttype) if isinstance(ttype, ty.Type) else ttype)


def _complete_patterns() -> None:
    """Give patterns the methods that TVM's have: they take expressions, which our patterns know nothing of."""
    methods: dict[str, Any] = {"match": match, "partition": _partition_method, "has_type": _has_type_method}
    for name, method in methods.items():
        setattr(Pattern, name, method)


_complete_patterns()

__all__ = [
    "DFPattern", "DFPatternCallback", "FunctionPattern", "IRModule", "Pattern", "dominates", "has_attr", "has_dtype",
    "has_shape", "has_type", "is_constant", "is_expr", "is_if", "is_let", "is_op", "is_tuple", "is_tuple_get_item",
    "is_var", "match", "partition", "rewrite", "wildcard",
]  # fmt: skip
