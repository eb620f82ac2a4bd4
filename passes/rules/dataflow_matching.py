"""Patterns at work: does one match a value, and what stands for what.

    match(is_op("nn.relu")(wildcard()), value)         whether
    found = find(pattern, value)                       the parts: found[x] is the list of values that x stands for

Unlike the left side of an equation a pattern does not mind other uses of inner ops; who takes the match out of the
program, to rewrite or to partition it, asks `Match.closed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from xdsl.ir import Operation, SSAValue

from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp
from lamina.dialects.rules.graph_patterns import IfPattern, InputVar, ItemPattern, SameAs, TuplePattern, identity
from lamina.dialects.rules.patterns import AnyCall, ConstVar, OpPattern, Pattern, Var
from lamina.dialects.rules.values import Expr
from lamina.passes.rules.match_attempts import FAIL, LIMIT, UNBOUND, Attempt, Goals
from lamina.passes.rules.pattern_conditions import compile_expr, is_redirected, root_classes, surface
from lamina.passes.rules.pattern_matching import PatternCompiler

REACH = 1000
"""The most ops that are looked at to see that uses of an inner op lead back to the match: beyond, it is not taken."""


class NodeMap(dict[Pattern, list[SSAValue]]):
    """The values that each part of a pattern stands for: one, or several inside a redirected or dominating pattern."""

    def __missing__(self, key: Pattern) -> list[SSAValue]:
        if isinstance(key, OpPattern) and key.origin is not key and key.origin in self:
            number = key.index or 0
            return [v.owner.results[number] for v in self[key.origin] if isinstance(v.owner, Operation)]
        raise KeyError(f"{key!r} is no part of the pattern, or stands for nothing in this match")


class Match:
    """A pattern matched at a value."""

    __slots__ = ("value", "env", "node_map", "ops", "inputs", "constants", "whole")

    def __init__(self, compiled: CompiledPattern, attempt: Attempt, value: SSAValue) -> None:
        self.value = value
        self.env = attempt.env
        self.node_map = compiled.node_map(attempt)
        ops, leaves, embedded = compiled.parts(self.node_map)
        owner = value.owner
        if isinstance(owner, Operation) and not isinstance(owner, (ConstantOp, FnOp)):
            ops[owner] = None
        self.ops = ops
        """The ops of the match."""
        self.constants = embedded
        """The constants that a part of the pattern asks for: they belong to the match."""
        read = dict.fromkeys(v for op in ops for v in read_from_outside(op))
        first = [v for v in leaves if v in read]
        inputs = dict.fromkeys([*first, *read])
        self.inputs = [v for v in inputs if v.owner not in ops and v.owner not in embedded]
        """The values that the ops read from outside, in the order of the pattern's leaves."""
        self.whole = compiled.whole
        """Whether the match stands for all results of its op, not for the one value."""

    @property
    def results(self) -> list[SSAValue]:
        """The values that the match stands for."""
        owner = self.value.owner
        return list(owner.results) if self.whole and isinstance(owner, Operation) else [self.value]

    def closed(self) -> bool:
        """Whether its inner ops serve nothing but the match.

        They may be used by others if all that comes of it leads back to the match's value: these ops then stay,
        and the match has copies of them.
        """
        return blocking_use(self) is None


def blocking_use(found: Match) -> tuple[Operation, Operation] | None:
    """An inner op of a match and the op outside that needs it, where the match cannot be taken out; else None."""
    root: Any = found.value.owner
    inside = found.ops
    for op in inside:
        if op.parent is not root.parent:
            if op.parent is None or _ancestor_in(op, inside) is None:
                return op, root
            continue
        for result in op.results:
            if op is root and (found.whole or result is found.value):
                continue
            for use in result.uses:
                user = use.operation
                if user not in inside and _ancestor_in(user, inside) is None and not leads_back(user, root, inside):
                    return op, user
    return None


def read_from_outside(op: Operation) -> list[SSAValue]:
    """The values that an op and the regions in it read and that are not defined in them."""
    found = list(op.operands)
    if op.regions and not isinstance(op, FnOp):
        defined: set[Any] = {op}
        for inner in op.walk():
            defined.add(inner)
            defined.update(block for region in inner.regions for block in region.blocks)
        for inner in op.walk():
            found += (v for v in inner.operands if v.owner not in defined)
    return found


def _ancestor_in(op: Operation, ops: dict[Operation, None]) -> Operation | None:
    """The op of a set in whose region another op stands."""
    at = op.parent_op()
    while at is not None:
        if at in ops:
            return at
        at = at.parent_op()
    return None


def leads_back(user: Operation, root: Operation, inside: dict[Operation, None]) -> bool:
    """Whether every way on from an op ends in the match: nothing else needs what it computes."""
    seen: set[Operation] = set()
    stack = [user]
    while stack:
        op = stack.pop()
        if op in seen or op in inside:
            continue
        seen.add(op)
        uses = [u.operation for r in op.results for u in r.uses]
        if not uses or op.parent is not root.parent or len(seen) > REACH:
            return False
        stack += uses
    return True


class CompiledPattern:
    """A pattern ready to be tried at values. Guards are those of an equation written with it."""

    def __init__(self, pattern: Pattern, guards: Iterable[Expr] = ()) -> None:
        self.pattern = pattern
        self.compiler = PatternCompiler(pattern, False)
        self.root_types = root_classes(pattern)
        """The classes of ops whose values it may match; None for any."""
        self.whole = not any(isinstance(p, ItemPattern) or _is_result(p) for p in surface(pattern))
        self._keys = {slot: key for key, slot in self.compiler.slots.items()}
        self.guards = [(repr(g), compile_expr(g, self.compiler.slots)) for g in guards]

    def match(self, value: SSAValue, accept: Callable[[Match], bool] | None = None) -> Match | None:
        """The first match at the value that is accepted, None when there is none."""
        found: list[Match] = []
        attempt = self.attempt()

        def finish(_: Any, rest: Goals, m: Attempt) -> Goals:
            for _text, guard in self.guards:
                if not guard(m.env):
                    return FAIL
            made = Match(self, m, value)
            if accept is not None and not accept(made):
                return FAIL
            found.append(made)
            return rest

        attempt.run((self.compiler.root, value, (finish, None, None)))
        return found[0] if found else None

    def attempt(self) -> Attempt:
        return Attempt(len(self.compiler.slots), LIMIT)

    def node_map(self, attempt: Attempt) -> NodeMap:
        bound: dict[Pattern, dict[SSAValue, None]] = {}
        for slot, _, value in attempt.trail:
            key = self._keys[slot]
            if value is not UNBOUND and isinstance(key, Pattern):
                at: SSAValue = value.results[_result(key)] if isinstance(value, Operation) else value
                bound.setdefault(key, {})[at] = None
        found = NodeMap({key: list(values) for key, values in bound.items()})
        for dominator, slot in self.compiler.paths.items():
            between = attempt.env[slot]
            if between is not UNBOUND:
                found[dominator.path] = list(between)
        return found

    def parts(self, node_map: NodeMap) -> tuple[dict[Operation, None], list[SSAValue], dict[Operation, None]]:
        """The ops of a match, its leaves in the order of the pattern, and the constants that belong to it."""
        ops: dict[Operation, None] = {}
        leaves: list[SSAValue] = []
        embedded: dict[Operation, None] = {}
        paths = {d.path for d in self.compiler.paths}
        for p in self.compiler.patterns:
            for value in node_map.get(identity(p), ()):
                owner = value.owner
                if not isinstance(owner, Operation):
                    leaves.append(value)
                elif p in paths or isinstance(p, (OpPattern, AnyCall, TuplePattern, IfPattern)):
                    ops[owner] = None
                    function = owner.operands[0].owner if isinstance(owner, CallOp) else None
                    if isinstance(function, FnOp):
                        ops[function] = None
                    if not p.children():
                        leaves += owner.operands
                elif isinstance(p, ItemPattern):
                    if owner.name == "relay.tuple_get_item":
                        ops[owner] = None
                elif isinstance(p, (ConstVar, SameAs)):
                    if isinstance(owner, ConstantOp):
                        embedded[owner] = None
                    else:
                        leaves.append(value)
                elif isinstance(p, InputVar) or (isinstance(p, Var) and not is_redirected(p)):
                    leaves.append(value)
        return ops, leaves, embedded


def _is_result(p: Pattern) -> bool:
    return isinstance(p, OpPattern) and p.index is not None


def _result(key: Pattern) -> int:
    return (key.index or 0) if isinstance(key, OpPattern) else 0


def find(pattern: Pattern, expr: SSAValue | Operation) -> NodeMap | None:
    """The values of a pattern's parts where it matches a value (an op's first result); None where it does not."""
    value = expr if isinstance(expr, SSAValue) else expr.results[0]
    found = CompiledPattern(pattern).match(value)
    return None if found is None else found.node_map


def match(pattern: Pattern, expr: SSAValue | Operation) -> bool:
    """Whether a pattern matches a value (an op's first result)."""
    return find(pattern, expr) is not None
