"""The steps of patterns for what is more than an op: tuples, branches, lets, functions, calls, dominators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp
from lamina.dialects.rules.graph_patterns import (
    FunctionPattern,
    IfPattern,
    ItemPattern,
    LetPattern,
    OpWord,
    TuplePattern,
    identity,
)
from lamina.dialects.rules.patterns import Alternatives, AnyCall, Constrained, Dominator, Pattern
from lamina.passes.rules.match_attempts import FAIL, LIMIT, UNBOUND, Attempt, Goals, Step, all_of, bind_same
from lamina.passes.rules.pattern_conditions import callee_test, python_value, root_classes

if TYPE_CHECKING:
    from lamina.passes.rules.pattern_matching import PatternCompiler

SINGLE_HERE = frozenset({"relay.nn.batch_norm", "relay.nn.dropout"})
"""Ops with one result of which TVM's have several: its item 0 is the op itself."""


def tuple_step(compiler: PatternCompiler, p: TuplePattern) -> Step:
    """The step that matches a relay.tuple, and its fields in order where the pattern names them."""
    slot = compiler.slots[p]
    steps = None if p.fields is None else [compiler.step(f) for f in p.fields]

    def match_tuple(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
        op: Any = value.owner
        if not isinstance(op, Operation) or op.name != "relay.tuple":
            return FAIL
        if not bind_same(m, slot, value):
            return FAIL
        return rest if steps is None else all_of(steps, op.operands, rest)

    return match_tuple


def item_step(compiler: PatternCompiler, p: ItemPattern) -> Step:
    """The step that matches a field of a tuple, or one result of an op with several."""
    slot, inner, index = compiler.slots[p], compiler.step(p.tuple_), p.index

    def match_item(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
        op: Any = value.owner
        if not isinstance(op, Operation):
            return FAIL
        if op.name == "relay.tuple_get_item":
            found, source = python_value(op.properties["index"]), op.operands[0]
        elif len(op.results) > 1 or op.name in SINGLE_HERE:
            found, source = op.results.index(value), value
        else:
            return FAIL
        if (index is not None and found != index) or not bind_same(m, slot, value):
            return FAIL
        return (inner, source, rest)

    return match_item


def if_step(compiler: PatternCompiler, p: IfPattern) -> Step:
    """The step that matches a result of relay.if: its condition, and what both sides yield for that result."""
    slot = compiler.slots[p]
    steps = [compiler.step(q) for q in p.parts]

    def match_if(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
        op: Any = value.owner
        if not isinstance(op, Operation) or op.name != "relay.if" or not bind_same(m, slot, value):
            return FAIL
        number = op.results.index(value)
        sides = [last.operands[number] for region in op.regions if (last := region.block.last_op) is not None]
        return all_of(steps, [op.operands[0], *sides], rest)

    return match_if


def let_step(compiler: PatternCompiler, p: LetPattern) -> Step:
    """The step that matches the body of a let, then the value at what its variable was bound to there."""
    slot, body, value_step = compiler.slots[p], compiler.step(p.body), compiler.step(p.value)
    variable = compiler.slots[identity(p.variable)]

    def match_let(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
        m.bind(slot, value)
        return (body, value, (bound_value, None, rest))

    def bound_value(_: Any, rest: Goals, m: Attempt) -> Goals:
        bound = m.env[variable]
        return FAIL if bound is UNBOUND else (value_step, bound, rest)

    return match_let


def function_step(compiler: PatternCompiler, p: FunctionPattern) -> Step:
    """The step that matches a relay.fn with one result: its body, and its parameters where the pattern names them."""
    slot, body = compiler.slots[p], compiler.step(p.body)
    params = None if p.params is None else [compiler.step(q) for q in p.params]

    def match_function(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
        function: Any = value.owner
        if not isinstance(function, FnOp) or not bind_same(m, slot, value):
            return FAIL
        returned = function.returned
        if len(returned) != 1:
            return FAIL
        rest = (body, returned[0], rest)
        return rest if params is None else all_of(params, function.parameters, rest)

    return match_function


def _is_operator(callee: Pattern) -> bool:
    """Whether a callee is an op, or one of some ops, whatever it has to have: no function."""
    if isinstance(callee, Alternatives):
        return all(map(_is_operator, callee.choices))
    return isinstance(callee, OpWord) or (isinstance(callee, Constrained) and _is_operator(callee.pattern))


def any_call_step(compiler: PatternCompiler, p: AnyCall) -> Step:
    """The step that matches a call by its callee: a called function, or the op itself, and the arguments."""
    slot = compiler.slots[p]
    admits = callee_test(p.callee)
    callee = None if _is_operator(p.callee) else compiler.step(p.callee)
    steps = None if p.args is None else [compiler.step(a) for a in p.args]

    def match_call(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
        op: Any = value.owner
        if isinstance(op, CallOp):
            if callee is None or not bind_same(m, slot, value):
                return FAIL
            rest = rest if steps is None else all_of(steps, op.operands[1:], rest)
            return FAIL if rest is FAIL else (callee, op.operands[0], rest)
        if not isinstance(op, RelayOp) or not admits(op) or not bind_same(m, slot, value):
            return FAIL
        return rest if steps is None else all_of(steps, op.operands, rest)

    return match_call


def dominator_step(compiler: PatternCompiler, p: Dominator, is_root: bool) -> Step:
    """The step that matches a child, then one parent that lies on all ways up from it, over ops of the path alone."""
    child, parent = compiler.step(p.child, is_root), compiler.step(p.parent)
    path = type(compiler)(p.path, False)
    wanted = root_classes(p.parent)
    slot, between = compiler.slots[p], compiler.paths[p]

    def match_child(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
        m.bind(slot, value)
        return (child, value, (find_parent, value, rest))

    def is_path(value: SSAValue, known: dict[SSAValue, bool]) -> bool:
        found = known.get(value)
        if found is None:
            m = Attempt(len(path.slots), LIMIT)
            found = known[value] = m.run((path.root, value, None))
        return found

    def find_parent(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
        # A dominator lies on every way up, so on the one through the first inputs: its nodes are the candidates.
        known: dict[SSAValue, bool] = {}
        candidates: list[SSAValue] = []
        at = next(inner_inputs(value), None)
        while at is not None:
            if wanted is None or type(at.owner) in wanted:
                candidates.append(at)
            if not is_path(at, known):
                break
            at = next(inner_inputs(at), None)
        if not candidates:
            return FAIL
        goals = [(parent, c, (all_ways, (value, c, known), rest)) for c in candidates]
        for g in reversed(goals[1:]):
            m.choose(g)
        return goals[0]

    def all_ways(given: tuple[SSAValue, SSAValue, dict[SSAValue, bool]], rest: Goals, m: Attempt) -> Goals:
        value, candidate, known = given
        seen: dict[SSAValue, None] = {}
        stack = list(inner_inputs(value))
        while stack:
            v = stack.pop()
            if v is candidate or v in seen:
                continue
            if not is_path(v, known):
                return FAIL
            seen[v] = None
            above = list(inner_inputs(v))
            if not above:
                return FAIL  # a way up that ends without having met the parent
            stack += above
        m.bind(between, tuple(seen))
        return rest

    return match_child


def inner_inputs(value: SSAValue) -> Iterator[SSAValue]:
    """The operands of a value's op, parameters and constants left out."""
    owner = value.owner
    if isinstance(owner, Operation):
        for v in owner.operands:
            if isinstance(v.owner, Operation) and not isinstance(v.owner, (ConstantOp, FnOp)):
                yield v
