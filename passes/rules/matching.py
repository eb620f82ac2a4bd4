"""Compiles an equation: one matcher for its left side, one builder for its right side.

The left side is matched by `pattern_matching.py`, inner ops having no use outside the match; guards are the last
goal, so a guard that fails makes the match go on with the next alternative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.fast_ir import type_of
from lamina.dialects.relay.base import to_attribute
from lamina.dialects.rules.graph_patterns import identity, reachable
from lamina.dialects.rules.op_protocol import RuleOp
from lamina.dialects.rules.patterns import root_op, roots
from lamina.dialects.rules.terms import (
    Alternatives,
    Composite,
    Computed,
    Equation,
    OpPattern,
    Pattern,
    RuleError,
    Splat,
    TypeExpr,
    Var,
    Wildcard,
)
from lamina.passes.rules.direct_matching import direct_matcher
from lamina.passes.rules.match_attempts import FAIL, LIMIT, UNBOUND, Attempt, Goals
from lamina.passes.rules.pattern_conditions import (
    CONSTANTS,
    bound_value,
    compile_argument,
    compile_expr,
    type_condition,
)
from lamina.passes.rules.pattern_matching import PatternCompiler, count_ops

__all__ = ["CompiledEquation", "Env", "type_condition"]

Env: TypeAlias = "list[Any]"
ValueBuilder: TypeAlias = "Callable[[Env, list[Operation]], SSAValue]"


class CompiledEquation:
    """An equation, ready to be tried at ops of its `root_types`."""

    def __init__(self, rule: Equation) -> None:
        self.rule = rule
        compiler = PatternCompiler(rule.left, True)
        self._slots = compiler.slots
        self._start = compiler.root
        self.root_index = {p.op: p.index or 0 for p in roots(rule.left) if isinstance(p, OpPattern)}
        self._guards = [compile_expr(g, self._slots) for g in rule.guards]
        self._op_slots = [self._slots[p] for p in compiler.count]
        self._checked = [self._slots[p] for p in compiler.repeated]
        once = max(_leaves(rule.left).values(), default=1) == 1 == max(compiler.count.values())
        self._unbound = [UNBOUND] * len(self._slots)
        self._direct = direct_matcher(rule.left, self._slots) if once and not self._guards else None
        self._last: Goals = (self._finish, None, None) if self._guards or self._checked else None
        self._build = self._builder(rule.right)
        self._within_block = not root_op(rule.left).ACROSS_BLOCKS

    def match(self, op: Operation) -> Env | None:
        """The bindings of a match rooted at the op, None when there is none."""
        value = op.results[self.root_index[type(op)]]  # type: ignore[index]
        if self._direct is not None:
            env: Env = [*self._unbound, {}]
            return env if self._direct(value, env, op.parent) else None
        attempt = Attempt(len(self._slots), LIMIT)
        attempt.block = op.parent
        if not attempt.run((self._start, value, self._last)):
            return None
        attempt.env.append({})  # what the right side builds once and uses twice
        return attempt.env

    def build(self, env: Env, made: list[Operation]) -> SSAValue:
        """The value of the right side; the ops for it are appended to `made`. Raises TypeMismatch.

        Among scalars and vectors the constants come first.
        """
        value = self._build(env, made)
        if self._within_block and len(made) > 1:
            made.sort(key=lambda op: type(op) not in CONSTANTS)
        return value

    def _finish(self, _: Any, rest: Goals, m: Attempt) -> Goals:
        """After all is bound: uses of ops that occur twice, then the guards."""
        env = m.env
        if self._checked:
            matched = {env[i] for i in self._op_slots if env[i] is not UNBOUND}
            for i in self._checked:
                if env[i] is UNBOUND:
                    continue
                for result in env[i].results:
                    for use in result.uses:
                        if use.operation not in matched:
                            return FAIL
        for guard in self._guards:
            if not guard(env):
                return FAIL
        return rest

    # -- the right side ----------------------------------------------------------------------------

    def _builder(self, p: Pattern) -> ValueBuilder:
        if identity(p) in self._slots:
            value_of, slot = bound_value(p, self._slots), self._slots[identity(p)]
            if isinstance(p, OpPattern):
                return lambda env, made: value_of(env)
            return lambda env, made: env[slot]
        if isinstance(p, Splat):
            build_splat = self._splat_builder(p, root_op(self.rule.left))
            return lambda env, made: build_splat(env, made, None)
        assert isinstance(p, OpPattern)
        return self._op_builder(p)

    def _splat_builder(self, p: Splat, beside: RuleOp) -> Callable[[Env, list[Operation], SSAValue | None], SSAValue]:
        number = compile_argument(p.number, self._slots)
        like = self._builder(p.like) if p.like is not None else None
        repeated = like is not None and _occurrences(self.rule.right, p) > 1

        def build_splat(env: Env, made: list[Operation], sibling: SSAValue | None) -> SSAValue:
            if repeated and p in env[-1]:
                return env[-1][p].results[0]
            constant = beside.make_constant(
                number(env), like(env, made) if like is not None else cast("SSAValue", sibling)
            )
            made.append(constant)
            if repeated:
                env[-1][p] = constant
            return constant.results[0]

        return build_splat

    def _op_builder(self, p: OpPattern) -> ValueBuilder:
        facts, key = p.facts, p.origin
        operands: list[tuple[int, ValueBuilder]] = []
        splats: list[tuple[int, Callable[[Env, list[Operation], SSAValue | None], SSAValue]]] = []
        for i, a in enumerate(p.args):
            if isinstance(a, Splat) and a not in self._slots:
                splats.append((i, self._splat_builder(a, facts)))
            else:
                operands.append((i, self._builder(a)))
        given = [(n, compile_argument(v, self._slots)) for n, v in p.attrs.items()]
        known = set(facts.known_attributes())
        like = self._builder(p.like) if p.like is not None else None
        index, arity = p.index or 0, len(p.args)
        repeated = _occurrences(self.rule.right, key) > 1
        builders = [build for _, build in operands]

        def build_plain(env: Env, made: list[Operation]) -> SSAValue:
            values = [build(env, made) for build in builders]
            op = facts.make_typed(values, facts.infer_types([type_of(v) for v in values], {}), {})
            made.append(op)
            return op.results[index]

        if not (splats or given or repeated) and like is None:
            return build_plain

        def build_op(env: Env, made: list[Operation]) -> SSAValue:
            if repeated and key in env[-1]:
                return env[-1][key].results[index]
            values: list[Any] = [None] * arity
            for i, build in operands:
                values[i] = build(env, made)
            # The last one: beside a condition and a value a number is of the type of the value.
            sibling = values[operands[-1][0]] if operands else None
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
            op = facts.make_typed(values, facts.infer_types([v.type for v in values], properties), properties)
            if repeated:
                env[-1][key] = op
            made.append(op)
            return op.results[index]

        return build_op


# -- an equation before it is compiled ------------------------------------------------------------


def root_types(rule: Equation) -> list[type[Operation]]:
    """The classes of the ops at which an equation is tried. Raises RuleError for the row of a pattern table."""
    if isinstance(rule.right, Composite):
        raise RuleError(f"{rule.right!r} stands in a pattern table only")
    return list(dict.fromkeys(p.op for p in roots(rule.left) if isinstance(p, OpPattern)))


def size_of(p: Pattern) -> int:
    """The most ops that a pattern matches."""
    if isinstance(p, Alternatives):
        return max(map(size_of, p.choices))
    return isinstance(p, OpPattern) + sum(map(size_of, p.children()))


def looks_around(rule: Equation) -> bool:
    """Whether an equation depends on more than the ops that it matches and their uses by one another."""
    occurrences: dict[OpPattern, int] = {}
    count_ops(rule.left, occurrences)
    if max(occurrences.values()) > 1 or any(map(_sees_values, rule.guards)):
        return True
    return any(isinstance(p, OpPattern) and p.index is not None for p in reachable(rule.left))


def reach_of(p: Pattern) -> int:
    """From how many users away another value may make a match."""
    return _reach(p, _leaves(p))


def _sees_values(guard: Any) -> bool:
    """Whether a guard is given a value, and with it the program around."""
    if isinstance(guard, TypeExpr):
        return guard.what == "ssa"
    return isinstance(guard, Computed) and any(map(_sees_values, guard.args))


def _leaves(p: Pattern) -> Counter[Pattern]:
    """The number of occurrences of each part without parts."""
    parts = p.children()
    return sum((_leaves(c) for c in parts), Counter[Pattern]()) if parts else Counter([p])


def _reach(p: Pattern, leaves: Counter[Pattern]) -> int:
    """From how many users away another value may make a match: of a variable that stands once any value does."""
    if isinstance(p, OpPattern):
        return max((1 + _reach(c, leaves) for c in p.args if not _is_any(c, leaves)), default=0)
    return max((_reach(c, leaves) for c in p.children()), default=0)


def _is_any(p: Pattern, leaves: Counter[Pattern]) -> bool:
    return isinstance(p, Wildcard) or (type(p) is Var and p.target is None and leaves[p] == 1)


def _occurrences(p: Pattern, key: Pattern) -> int:
    here = int(identity(p) is key)
    return here + sum(_occurrences(c, key) for c in p.children())
