"""Compiles an equation to closures: one that matches its left side at an op, one that builds its right side.

The state of a match is a list with one slot for each variable and op of the left side. Matchers are written in
continuation-passing style: each calls what remains to be matched, and takes its bindings back when that fails.
So alternatives and swapped operands backtrack as they should, guards included, and nothing is allocated but the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.relay.base import RelayOp, TypeMismatch, from_attribute, tensor_info, to_attribute
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import INLINE_BYTES, dense_array
from lamina.dialects.terms import (
    Alternatives,
    AttrVar,
    Computed,
    Constrained,
    ConstVar,
    Equation,
    Expr,
    OpPattern,
    Pattern,
    Splat,
    TypeExpr,
    Var,
    Wildcard,
    scalar_constant,
)
from lamina.dialects.terms_check import roots

Env: TypeAlias = "list[Any]"
Next: TypeAlias = "Callable[[Env], bool]"
ValueMatcher: TypeAlias = "Callable[[SSAValue, Env], bool]"
OpMatcher: TypeAlias = "Callable[[Operation, Env], bool]"
ValueBuilder: TypeAlias = "Callable[[Env, list[Operation]], SSAValue]"

COMMUTATIVE = frozenset({"relay.add", "relay.multiply"})
UNBOUND: Any = object()


@lru_cache(maxsize=65536)
def python_value(attr: Attribute | None) -> Any:
    """An attribute as rules see it; None for an absent one."""
    return None if attr is None else from_attribute(attr)


@lru_cache(maxsize=4096)
def splat_number(attr: DenseIntOrFPElementsAttr[Any]) -> float | int | None:
    """The number that all elements of a small dense attribute equal, None when they differ."""
    if not attr.data.data or len(attr.data.data) > INLINE_BYTES:
        return None
    size = len(attr.data.data) // len(attr)
    if attr.data.data != attr.data.data[:size] * len(attr):
        return None
    return dense_array(attr).reshape(-1)[0].item()


def inline_array(value: SSAValue) -> Any:
    """The array of an inline constant, None for anything else."""
    owner = value.owner
    if type(owner) is not ConstantOp or not isinstance(owner.value, DenseIntOrFPElementsAttr):
        return None
    return dense_array(owner.value)


class CompiledEquation:
    """An equation, ready to be tried at ops of the classes in `root_types`."""

    def __init__(self, rule: Equation) -> None:
        self.rule = rule
        self._slots: dict[Any, int] = {}
        self._count: dict[OpPattern, int] = {}
        self._repeated: list[OpPattern] = []
        _count_ops(rule.left, self._count)
        self._number(rule.left)
        root_patterns = [p for p in roots(rule.left) if isinstance(p, OpPattern)]
        self.root_types = list(dict.fromkeys(p.op for p in root_patterns))
        self.root_index = {p.op: p.index or 0 for p in root_patterns}
        self.size = _size(rule.left)
        self.depth = _depth(rule.left)
        self._guards = [self._expr(g) for g in rule.guards]
        self._op_slots = [self._slots[p] for p in self._count]
        self._checked = [self._slots[p] for p in self._repeated]
        self._match = self._value(rule.left, self._finish(), True)
        self._build = self._builder(rule.right)

    def match(self, op: Operation) -> Env | None:
        """The bindings of a match rooted at the op, None when there is none."""
        env: Env = [UNBOUND] * len(self._slots)
        env.append({})  # what the right side builds once and uses twice
        return env if self._match(op.results[self.root_index[type(op)]], env) else None  # type: ignore[index]

    def build(self, env: Env, made: list[Operation]) -> SSAValue:
        """The value of the right side; the ops for it are appended to `made`. Raises TypeMismatch."""
        return self._build(env, made)

    # -- slots -------------------------------------------------------------------------------------

    def _slot(self, key: Any) -> int:
        return self._slots.setdefault(key, len(self._slots))

    def _number(self, pattern: Pattern) -> None:
        if isinstance(pattern, OpPattern):
            self._slot(pattern.origin)
            for value in pattern.attrs.values():
                if isinstance(value, AttrVar):
                    self._slot(value)
        elif not isinstance(pattern, Wildcard):
            self._slot(pattern)
        for child in pattern.children():
            self._number(child)

    # -- the left side -----------------------------------------------------------------------------

    def _finish(self) -> Next:
        """After all is bound: uses of ops that occur twice, then the guards."""
        guards, checked, ops = self._guards, self._checked, self._op_slots

        def finish(env: Env) -> bool:
            if checked:
                matched = {env[i] for i in ops if env[i] is not UNBOUND}
                for i in checked:
                    if env[i] is UNBOUND:
                        continue
                    for result in env[i].results:
                        for use in result.uses:
                            if use.operation not in matched:
                                return False
            for guard in guards:
                if not guard(env):
                    return False
            return True

        return finish

    def _value(self, p: Pattern, then: Next, is_root: bool = False) -> ValueMatcher:
        if isinstance(p, Wildcard):
            return lambda value, env: then(env)
        if isinstance(p, OpPattern):
            return self._op_value(p, then, is_root)
        slot = self._slots[p]
        if isinstance(p, (Var, ConstVar)):
            constant_only = isinstance(p, ConstVar)

            def match_var(value: SSAValue, env: Env) -> bool:
                bound = env[slot]
                if bound is not UNBOUND:
                    return bound is value and then(env)
                if constant_only and type(value.owner) is not ConstantOp:
                    return False
                env[slot] = value
                if then(env):
                    return True
                env[slot] = UNBOUND
                return False

            return match_var
        if isinstance(p, Splat):
            number = p.number

            def match_splat(value: SSAValue, env: Env) -> bool:
                owner = value.owner
                if type(owner) is not ConstantOp or not isinstance(owner.value, DenseIntOrFPElementsAttr):
                    return False
                if splat_number(owner.value) != number:
                    return False
                env[slot] = value
                return then(env)

            return match_splat
        if isinstance(p, Alternatives):
            choices = [self._value(c, then, is_root) for c in p.choices]

            def match_one(value: SSAValue, env: Env) -> bool:
                env[slot] = value
                for choice in choices:
                    if choice(value, env):
                        return True
                env[slot] = UNBOUND
                return False

            return match_one
        assert isinstance(p, Constrained)
        inner = self._value(p.pattern, then, is_root)
        holds = type_condition(p.kind, p.wanted)

        def match_constrained(value: SSAValue, env: Env) -> bool:
            if not holds(value.type):
                return False
            env[slot] = value
            return inner(value, env)

        return match_constrained

    def _op_value(self, p: OpPattern, then: Next, is_root: bool) -> ValueMatcher:
        match_op = self._op(p, then)
        wanted, index = p.op, p.index or 0
        single = not is_root and not p.may_share
        if single and self._count[p.origin] > 1:
            if p.origin not in self._repeated:
                self._repeated.append(p.origin)
                self._checked.append(self._slots[p.origin])
            single = False
        several = p.index is not None

        def match_value(value: SSAValue, env: Env) -> bool:
            op: Any = value.owner
            if type(op) is not wanted:
                return False
            if single and not value.has_one_use():
                return False
            if several:
                if op.results[index] is not value:
                    return False
                if single and any(r is not value and r.first_use is not None for r in op.results):
                    return False
            return match_op(op, env)

        return match_value

    def _op(self, p: OpPattern, then: Next) -> OpMatcher:
        slot = self._slots[p.origin]
        literal = [(n, None if v is None else to_attribute(v)) for n, v in p.attrs.items() if not isinstance(v, Expr)]
        variables = [(n, self._slots[v]) for n, v in p.attrs.items() if isinstance(v, AttrVar)]
        arity = len(p.args)
        order = list(range(arity))
        first = self._operands(p, order, then)
        # Two plain variables match the same whichever way round, unless something else tells them apart; it costs
        # nothing to try.
        second = self._operands(p, order[::-1], then) if p.op.name in COMMUTATIVE and arity == 2 else None

        def match_op(op: Operation, env: Env) -> bool:
            bound = env[slot]
            if bound is not UNBOUND:
                return bound is op and then(env)
            properties = op.properties
            for name, wanted in literal:
                if properties.get(name) != wanted:
                    return False
            if len(op.operands) != arity:
                return False
            taken: list[int] = []
            for name, i in variables:
                value = python_value(properties.get(name))
                if env[i] is UNBOUND:
                    env[i] = value
                    taken.append(i)
                elif env[i] != value:
                    for j in taken:
                        env[j] = UNBOUND
                    return False
            env[slot] = op
            if first(env) or (second is not None and second(env)):
                return True
            env[slot] = UNBOUND
            for j in taken:
                env[j] = UNBOUND
            return False

        return match_op

    def _operands(self, p: OpPattern, order: Sequence[int], then: Next) -> Next:
        """Matches the operands one after the other; `order[i]` is the operand that the i-th pattern is tried at."""
        slot = self._slots[p.origin]
        for pattern, position in reversed(list(zip(p.args, order, strict=True))):
            then = _operand(self._value(pattern, then), slot, position)
        return then

    # -- the right side ----------------------------------------------------------------------------

    def _builder(self, p: Pattern) -> ValueBuilder:
        if isinstance(p, OpPattern) and p.origin in self._slots:
            slot, index = self._slots[p.origin], p.index or 0
            return lambda env, made: env[slot].results[index]
        if p in self._slots:
            slot = self._slots[p]
            return lambda env, made: env[slot]
        if isinstance(p, Splat):
            build_splat = self._splat_builder(p)
            return lambda env, made: build_splat(env, made, None)
        assert isinstance(p, OpPattern)
        return self._op_builder(p)

    def _splat_builder(self, p: Splat) -> Callable[[Env, list[Operation], SSAValue | None], SSAValue]:
        number = self._argument(p.number)
        like = self._builder(p.like) if p.like is not None else None

        def build_splat(env: Env, made: list[Operation], sibling: SSAValue | None) -> SSAValue:
            value = scalar_constant(number(env), like(env, made) if like is not None else sibling)
            made.append(value.owner)  # type: ignore[arg-type]
            return value

        return build_splat

    def _op_builder(self, p: OpPattern) -> ValueBuilder:
        op_type: type[RelayOp] = p.op
        key = p.origin
        operands: list[tuple[int, ValueBuilder]] = []
        splats: list[tuple[int, Callable[[Env, list[Operation], SSAValue | None], SSAValue]]] = []
        for i, a in enumerate(p.args):
            if isinstance(a, Splat) and a not in self._slots:
                splats.append((i, self._splat_builder(a)))
            else:
                operands.append((i, self._builder(a)))
        given = [(n, self._argument(v)) for n, v in p.attrs.items()]
        known = set(op_type.get_irdl_definition().properties)
        like = self._builder(p.like) if p.like is not None else None
        index, arity = p.index or 0, len(p.args)
        repeated = _occurrences(self.rule.right, key) > 1

        def build_op(env: Env, made: list[Operation]) -> SSAValue:
            if repeated and key in env[-1]:
                return env[-1][key].results[index]
            values: list[Any] = [None] * arity
            for i, build in operands:
                values[i] = build(env, made)
            sibling = values[operands[0][0]] if operands else None
            for i, build_splat in splats:
                values[i] = build_splat(env, made, sibling)
            properties: dict[str, Attribute] = {}
            if like is not None:
                source = like(env, made).owner
                assert isinstance(source, Operation)
                properties = {n: a for n, a in source.properties.items() if n in known}
            for name, argument in given:
                value = argument(env)
                if value is None:
                    properties.pop(name, None)
                else:
                    properties[name] = to_attribute(value)
            types = op_type.infer_types([v.type for v in values], properties)
            op = op_type.create(operands=values, result_types=types, properties=properties)
            if repeated:
                env[-1][key] = op
            made.append(op)
            return op.results[index]

        return build_op

    # -- computed values ---------------------------------------------------------------------------

    def _argument(self, value: Any) -> Callable[[Env], Any]:
        if isinstance(value, Expr):
            return self._expr(value)
        return lambda env: value

    def _expr(self, e: Expr) -> Callable[[Env], Any]:
        if isinstance(e, AttrVar):
            slot = self._slots[e]
            return lambda env: env[slot]
        if isinstance(e, TypeExpr):
            return self._type_expr(e)
        assert isinstance(e, Computed)
        function, arguments = e.function, [self._argument(a) for a in e.args]
        return lambda env: function(*[a(env) for a in arguments])

    def _type_expr(self, e: TypeExpr) -> Callable[[Env], Any]:
        value_of = self._builder(e.pattern)
        ask = _ASK[e.what]
        return lambda env: ask(value_of(env, []))


_ASK: dict[str, Callable[[SSAValue], Any]] = {
    "shape": lambda value: tensor_info(value.type).shape,
    "rank": lambda value: len(tensor_info(value.type).shape),
    "dtype": lambda value: tensor_info(value.type).dtype,
    "value": inline_array,
}


def _operand(match: ValueMatcher, slot: int, position: int) -> Next:
    def matched(env: Env) -> bool:
        return match(env[slot].operands[position], env)

    return matched


def type_condition(kind: str, wanted: Any) -> Callable[[Attribute], bool]:
    """The predicate on types that a constraint stands for."""

    def holds(type_: Attribute) -> bool:
        if kind == "has_type":
            return type_ == wanted
        try:
            shape, dtype = tensor_info(type_)
        except TypeMismatch:
            return False
        if kind == "has_dtype":
            return dtype in wanted
        if kind == "has_rank":
            return len(shape) == wanted
        return len(shape) == len(wanted) and all(w is None or w == s for w, s in zip(wanted, shape, strict=True))

    return holds


def _count_ops(p: Pattern, count: dict[OpPattern, int]) -> None:
    if isinstance(p, OpPattern):
        count[p.origin] = count.get(p.origin, 0) + 1
        if count[p.origin] > 1:
            return
    for child in p.children():
        _count_ops(child, count)


def _size(p: Pattern) -> int:
    if isinstance(p, Alternatives):
        return max(map(_size, p.choices))
    return isinstance(p, OpPattern) + sum(map(_size, p.children()))


def _depth(p: Pattern) -> int:
    return isinstance(p, OpPattern) + max(map(_depth, p.children()), default=0)


def _occurrences(p: Pattern, key: OpPattern) -> int:
    here = int(isinstance(p, OpPattern) and p.origin is key)
    return here + sum(_occurrences(c, key) for c in p.children())
