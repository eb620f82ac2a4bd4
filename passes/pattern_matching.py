"""Compiles a pattern to a matcher that backtracks over every choice and never recurses over the graph.

A match is a list of goals, each a pattern's step at a value; a step binds slots, adds the goals of its parts, or
fails. Choices (alternatives, swapped operands, the parent of a dominator) are put on a stack with the length of the
trail of bindings; a failure takes up the latest one. So a choice made early is taken back when something later
fails, guards included, and a chain of ten thousand ops takes memory but no Python stack.

The state is an `Attempt`: one slot for each variable and op of the pattern. Repeated patterns bind once; inside a
redirected variable (`wildcard().redirect_to(p)`) each unrolling binds afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Operation, SSAValue

from lamina.dialects.graph_patterns import (
    AnyCall,
    Dominator,
    FunctionPattern,
    IfPattern,
    InputVar,
    ItemPattern,
    LetPattern,
    OpWord,
    SameAs,
    TuplePattern,
    followed,
    identity,
    reachable,
)
from lamina.dialects.patterns import (
    Alternatives,
    AttrVar,
    Constrained,
    ConstVar,
    Expr,
    OpPattern,
    Pattern,
    RuleError,
    Splat,
    Var,
    Wildcard,
)
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp
from lamina.passes.pattern_conditions import (
    associated,
    attribute_test,
    callee_test,
    has_attributes,
    python_value,
    root_classes,
    same_computation,
    splat_test,
    surface,
    type_condition,
)

Goals: TypeAlias = Any
"""A linked list `(step, value, rest)`, None at its end, or FAIL."""
Step: TypeAlias = "Callable[[Any, Goals, Attempt], Goals]"
COMMUTATIVE = frozenset({"relay.add", "relay.multiply"})
UNBOUND: Any = object()
FAIL: Any = object()
SINGLE_HERE = frozenset({"relay.nn.batch_norm", "relay.nn.dropout"})
"""Ops with one result of which TVM's have several: its item 0 is the op itself."""
LIMIT = 100_000
"""Steps of one attempt for each slot of its pattern: beyond, the choices multiply and the attempt is given up."""


class Attempt:
    """One attempt to match: the slots, what was bound in order, and the choices left."""

    __slots__ = ("env", "trail", "choices", "observer", "fuel")

    def __init__(self, slots: int, fuel: int) -> None:
        self.env: list[Any] = [UNBOUND] * slots
        self.trail: list[tuple[int, Any, Any]] = []
        self.choices: list[tuple[Goals, int]] = []
        self.observer: Callable[[Goals, Attempt], None] | None = None
        self.fuel = fuel

    def bind(self, slot: int, value: Any) -> None:
        self.trail.append((slot, self.env[slot], value))
        self.env[slot] = value

    def choose(self, goals: Goals) -> None:
        """Keep a choice: what to go on with if the way taken now fails."""
        self.choices.append((goals, len(self.trail)))

    def run(self, goals: Goals) -> bool:
        """Work off the goals, taking back choices on failure: whether all are met."""
        trail, env, choices = self.trail, self.env, self.choices
        while goals is not None:
            here = goals
            goals = here[0](here[1], here[2], self)
            if goals is FAIL:
                if self.observer is not None:
                    self.observer(here, self)
                self.fuel -= 1
                if not choices or self.fuel < 0:
                    return False
                goals, length = choices.pop()
                while len(trail) > length:
                    slot, old, _new = trail.pop()
                    env[slot] = old
        return True


def meet(step: Callable[[Any, Attempt], bool]) -> Step:
    """A step that only tests."""
    return lambda value, rest, m: rest if step(value, m) else FAIL


class PatternCompiler:
    """A pattern as a step; `slots` numbers its parts. With `interior_single`, inner ops must have no other use."""

    def __init__(self, pattern: Pattern, interior_single: bool) -> None:
        self.pattern = pattern
        self.interior_single = interior_single
        self.slots: dict[Any, int] = {}
        self.count: dict[OpPattern, int] = {}
        self.repeated: list[OpPattern] = []
        self.paths: dict[Dominator, int] = {}
        self._steps: dict[tuple[Pattern, bool], Step] = {}
        self.pattern_of: dict[Step, Pattern] = {}
        """The pattern that a step was made of: who explains a failure names it."""
        self._let_variables: set[Pattern] = set()
        self._forms: set[Pattern] = set()
        self.patterns = list(reachable(pattern))
        count_ops(pattern, self.count)
        for p in self.patterns:
            self._number(p)
        self.root = self.step(pattern, True)

    def _number(self, p: Pattern) -> None:
        if isinstance(p, Wildcard):
            return
        self.slots.setdefault(identity(p), len(self.slots))
        if isinstance(p, OpPattern):
            for value in p.attrs.values():
                if isinstance(value, AttrVar):
                    self.slots.setdefault(value, len(self.slots))
        elif isinstance(p, LetPattern):
            self._let_variables.add(p.variable)
        elif isinstance(p, Dominator):
            # The ops on the ways up have a slot of their own, under a key that no pattern has.
            self.paths[p] = self.slots.setdefault((p, "path"), len(self.slots))

    # -- one step for each kind of pattern -------------------------------------------------------------------

    def step(self, p: Pattern, is_root: bool = False) -> Step:
        """What matches a value against a part of the pattern."""
        key = (p, is_root)
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = self._make(p, is_root)
            self.pattern_of[found] = p
        return found

    def _make(self, p: Pattern, is_root: bool) -> Step:
        if isinstance(p, Wildcard):
            return lambda value, rest, m: rest
        if isinstance(p, OpPattern):
            others = [] if self.interior_single or p in self._forms else associated(p)
            return self._any_form(p, others, is_root) if others else self._op_value(p, is_root)
        if isinstance(p, Var):
            return self._redirected(p) if p.target is not None else self._once(p, None)
        if isinstance(p, ConstVar):
            return self._once(p, lambda value: type(value.owner) is ConstantOp)
        if isinstance(p, InputVar):
            return self._once(p, None if p in self._let_variables and not p.name else self._input_test(p))
        if isinstance(p, Splat):
            return self._once(p, splat_test(p.number))
        if isinstance(p, SameAs):
            return self._once(p, lambda value: same_computation(value, p.value))
        if isinstance(p, Alternatives):
            return self._alternatives(p, is_root)
        if isinstance(p, Constrained):
            return self._constrained(p, is_root)
        if isinstance(p, TuplePattern):
            return self._tuple(p)
        if isinstance(p, ItemPattern):
            return self._item(p)
        if isinstance(p, IfPattern):
            return self._if(p)
        if isinstance(p, LetPattern):
            return self._let(p)
        if isinstance(p, FunctionPattern):
            return self._function(p)
        if isinstance(p, AnyCall):
            return self._any_call(p)
        if isinstance(p, Dominator):
            return self._dominator(p, is_root)
        raise RuleError(f"{p!r} matches no value: apply it to operands")

    def _once(self, p: Pattern, test: Callable[[SSAValue], bool] | None) -> Step:
        """Binds a leaf to a value that passes the test, or compares with what it is bound to."""
        slot = self.slots[p]

        def match_leaf(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            bound = m.env[slot]
            if bound is UNBOUND:
                if test is not None and not test(value):
                    return FAIL
                m.bind(slot, value)
                return rest
            return rest if bound is value else FAIL

        return match_leaf

    def _input_test(self, p: InputVar) -> Callable[[SSAValue], bool]:
        name, is_let = p.name, p in self._let_variables

        def is_input(value: SSAValue) -> bool:
            return (is_let or not isinstance(value.owner, Operation)) and (not name or value.name_hint == name)

        return is_input

    def _redirected(self, p: Var) -> Step:
        """What the variable was redirected to, in a scope of its own."""
        assert p.target is not None
        slot = self.slots[p]
        inside = set(reachable(p.target))
        cycle = frozenset(q for q in inside if p in reachable(q))
        if p in surface(p.target):
            raise RuleError(
                f"the pattern {p.target!r} of a redirected wildcard is that wildcard again, not a part of it"
            )
        outer = set(reachable(self.pattern, cycle | {p}))
        keys = {identity(q) for q in inside if q not in outer and not isinstance(q, (Wildcard, Dominator))}
        fresh = [i for k, i in self.slots.items() if k in keys and i != slot]

        def enter(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            step = self.step(p.target)  # type: ignore[arg-type]
            saved = [(i, m.env[i]) for i in fresh]
            for i in fresh:
                m.bind(i, UNBOUND)
            m.bind(slot, value)
            return (step, value, (leave, saved, rest))

        def leave(saved: list[tuple[int, Any]], rest: Goals, m: Attempt) -> Goals:
            for i, value in saved:
                m.bind(i, value)
            m.bind(slot, UNBOUND)
            return rest

        return enter

    def _alternatives(self, p: Alternatives, is_root: bool) -> Step:
        slot = self.slots[p]
        choices = [(self.step(c, is_root), root_classes(c)) for c in p.choices]

        def match_one(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            kind = type(value.owner)
            fitting = [step for step, classes in choices if classes is None or kind in classes]
            if not fitting:
                return FAIL
            for step in reversed(fitting[1:]):
                m.choose((bind_here, value, (step, value, rest)))
            m.bind(slot, value)
            return (fitting[0], value, rest)

        def bind_here(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            m.bind(slot, value)
            return rest

        return match_one

    def _constrained(self, p: Constrained, is_root: bool) -> Step:
        slot, inner = self.slots[p], self.step(p.pattern, is_root)
        condition = type_condition(p.kind, p.wanted)

        def holds(value: SSAValue) -> bool:
            return has_attributes(value.owner, p.wanted) if p.kind == "has_attr" else condition(value.type)

        def match_constrained(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            if not holds(value):
                return FAIL
            m.bind(slot, value)
            return (inner, value, rest)

        return match_constrained

    def _op_value(self, p: OpPattern, is_root: bool) -> Step:
        match_op = self._op(p)
        wanted, index, slot = p.op, p.index, self.slots[p.origin]
        single = self.interior_single and not is_root and not p.may_share
        if single and self.count[p.origin] > 1:
            if p.origin not in self.repeated:
                self.repeated.append(p.origin)
            single = False

        def match_value(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            op: Any = value.owner
            if type(op) is not wanted or (single and not value.has_one_use()):
                return FAIL
            if index is not None:
                if op.results[index] is not value:
                    return FAIL
                if single and any(r is not value and r.first_use is not None for r in op.results):
                    return FAIL
            bound = m.env[slot]
            if bound is not UNBOUND:
                return rest if bound is op else FAIL
            return match_op(op, rest, m)

        return match_value

    def _any_form(self, p: OpPattern, others: list[OpPattern], is_root: bool) -> Step:
        """A product over a number, in TVM's three forms; an equation takes its left side as it is written."""
        slot = self.slots[p.origin]
        for form in others:
            for q in reachable(form):
                if q not in self.patterns and isinstance(q, OpPattern):
                    self._forms.add(q)
                    self.patterns.append(q)
                    self.slots.setdefault(q, len(self.slots))
        own = self._op_value(p, is_root)
        steps = [(own, p.op), *((self.step(form, is_root), form.op) for form in others)]

        def match_form(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            fitting = [step for step, op in steps if type(value.owner) is op]
            if not fitting:
                return FAIL
            for step in reversed(fitting[1:]):
                m.choose((step, value, (bind_here, value, rest)))
            return (fitting[0], value, rest if fitting[0] is own else (bind_here, value, rest))

        def bind_here(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            return rest if bind_same(m, slot, value.owner) else FAIL

        return match_form

    def _op(self, p: OpPattern) -> Step:
        slot = self.slots[p.origin]
        literal = [(n, attribute_test(v)) for n, v in p.attrs.items() if not isinstance(v, Expr)]
        variables = [(n, self.slots[v]) for n, v in p.attrs.items() if isinstance(v, AttrVar)]
        arity = None if p.any_args else len(p.args)
        # Looked at before anything is bound: most attempts end here.
        screen = [(i, c) for i, a in enumerate(p.args) if (c := root_classes(a)) is not None]
        swaps = p.op.name in COMMUTATIVE and arity == 2
        steps = [self.step(a) for a in p.args]

        def match_op(op: Operation, rest: Goals, m: Attempt) -> Goals:
            operands = op.operands
            if arity is not None and len(operands) != arity:
                return FAIL
            straight = True
            for i, classes in screen:
                if type(operands[i].owner) not in classes:
                    straight = False
                    break
            if not straight:
                if not swaps:
                    return FAIL
                for i, classes in screen:
                    if type(operands[1 - i].owner) not in classes:
                        return FAIL
            properties = op.properties
            for name, holds in literal:
                if not holds(properties.get(name)):
                    return FAIL
            for name, i in variables:
                value = python_value(properties.get(name))
                if m.env[i] is UNBOUND:
                    m.bind(i, value)
                elif m.env[i] != value:
                    return FAIL
            m.bind(slot, op)
            if arity is None:
                return rest
            if swaps:
                a, b = operands
                swapped = (steps[0], b, (steps[1], a, rest))
                if not straight:
                    return swapped
                if a is not b:
                    m.choose(swapped)
                return (steps[0], a, (steps[1], b, rest))
            for i in range(arity - 1, -1, -1):
                rest = (steps[i], operands[i], rest)
            return rest

        return match_op

    def _tuple(self, p: TuplePattern) -> Step:
        slot = self.slots[p]
        steps = None if p.fields is None else [self.step(f) for f in p.fields]

        def match_tuple(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            op: Any = value.owner
            if not isinstance(op, Operation) or op.name != "relay.tuple":
                return FAIL
            if not bind_same(m, slot, value):
                return FAIL
            return rest if steps is None else all_of(steps, op.operands, rest)

        return match_tuple

    def _item(self, p: ItemPattern) -> Step:
        slot, inner, index = self.slots[p], self.step(p.tuple_), p.index

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

    def _if(self, p: IfPattern) -> Step:
        slot = self.slots[p]
        steps = [self.step(q) for q in p.parts]

        def match_if(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            op: Any = value.owner
            if not isinstance(op, Operation) or op.name != "relay.if" or not bind_same(m, slot, value):
                return FAIL
            number = op.results.index(value)
            sides = [last.operands[number] for region in op.regions if (last := region.block.last_op) is not None]
            return all_of(steps, [op.operands[0], *sides], rest)

        return match_if

    def _let(self, p: LetPattern) -> Step:
        slot, body, value_step = self.slots[p], self.step(p.body), self.step(p.value)
        variable = self.slots[identity(p.variable)]

        def match_let(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            m.bind(slot, value)
            return (body, value, (bound_value, None, rest))

        def bound_value(_: Any, rest: Goals, m: Attempt) -> Goals:
            bound = m.env[variable]
            return FAIL if bound is UNBOUND else (value_step, bound, rest)

        return match_let

    def _function(self, p: FunctionPattern) -> Step:
        slot, body = self.slots[p], self.step(p.body)
        params = None if p.params is None else [self.step(q) for q in p.params]

        def match_function(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            function: Any = value.owner
            if not isinstance(function, FnOp) or not bind_same(m, slot, value):
                return FAIL
            returned = function.returned
            if len(returned) != 1:
                return FAIL
            # Captured values come before the parameters.
            arguments = function.body.block.args[-len(function.function_type.inputs) :] if params else ()
            if params is not None and len(params) != len(function.function_type.inputs):
                return FAIL
            return all_of(params or (), arguments, (body, returned[0], rest))

        return match_function

    def _any_call(self, p: AnyCall) -> Step:
        slot = self.slots[p]
        admits = callee_test(p.callee)
        callee = None if isinstance(p.callee, OpWord) else self.step(p.callee)
        steps = None if p.args is None else [self.step(a) for a in p.args]

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

    def _dominator(self, p: Dominator, is_root: bool) -> Step:
        child, parent = self.step(p.child, is_root), self.step(p.parent)
        path = PatternCompiler(p.path, False)
        wanted = root_classes(p.parent)
        slot, between = self.slots[p], self.paths[p]

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


def all_of(steps: Sequence[Step], values: Sequence[SSAValue], rest: Goals) -> Goals:
    """The goals of several patterns at several values, in order; FAIL where their numbers differ."""
    if len(steps) != len(values):
        return FAIL
    for step, value in zip(reversed(steps), reversed(values), strict=True):
        rest = (step, value, rest)
    return rest


def bind_same(m: Attempt, slot: int, value: Any) -> bool:
    bound = m.env[slot]
    if bound is UNBOUND:
        m.bind(slot, value)
        return True
    return bound is value


def inner_inputs(value: SSAValue) -> Iterator[SSAValue]:
    """The operands of a value's op, parameters and constants left out."""
    owner = value.owner
    if isinstance(owner, Operation):
        for v in owner.operands:
            if isinstance(v.owner, Operation) and not isinstance(v.owner, (ConstantOp, FnOp)):
                yield v


def count_ops(p: Pattern, count: dict[OpPattern, int]) -> None:
    """How often each op pattern occurs."""
    stack, expanded = [p], set[Pattern]()
    while stack:
        q = stack.pop()
        if isinstance(q, OpPattern):
            count[q.origin] = count.get(q.origin, 0) + 1
        if q not in expanded:  # the parts of a part that was seen are inside it
            expanded.add(q)
            stack.extend(followed(q))
