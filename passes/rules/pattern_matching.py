"""Compiles a pattern to a matcher that backtracks over every choice and never recurses over the graph.

The steps are worked off by an `Attempt` (`match_attempts.py`); those of tuples, branches, functions and dominators are
in `pattern_structures.py`.

The state of an attempt is one slot for each variable and op of the pattern. Repeated patterns bind once; inside a
redirected variable (`wildcard().redirect_to(p)`) each unrolling binds afresh.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation, SSAValue

from lamina.dialects.fast_ir import operands_of, type_of
from lamina.dialects.rules.graph_patterns import (
    FunctionPattern,
    IfPattern,
    InputVar,
    ItemPattern,
    LetPattern,
    SameAs,
    TuplePattern,
    followed,
    identity,
    reachable,
)
from lamina.dialects.rules.patterns import (
    Alternatives,
    AnyCall,
    Constrained,
    ConstVar,
    Dominator,
    OpPattern,
    Pattern,
    Splat,
    Var,
    Wildcard,
)
from lamina.dialects.rules.values import AttrVar, Expr, RuleError
from lamina.passes.rules.match_attempts import FAIL, UNBOUND, Attempt, Goals, Step, bind_same
from lamina.passes.rules.pattern_conditions import (
    CONSTANTS,
    associated,
    attribute_test,
    has_attributes,
    python_value,
    root_classes,
    same_computation,
    splat_test,
    surface,
    type_condition,
)
from lamina.passes.rules.pattern_structures import (
    any_call_step,
    dominator_step,
    function_step,
    if_step,
    item_step,
    let_step,
    tuple_step,
)


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
        """The step that matches a value against a part of the pattern."""
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
            return self._once(p, lambda value: type(value.owner) in CONSTANTS)
        if isinstance(p, InputVar):
            return self._once(p, None if p in self._let_variables and not p.name else self._input_test(p))
        if isinstance(p, Splat):
            return self._once(p, splat_test(p.number))
        if isinstance(p, SameAs):
            return self._once(p, lambda value: same_computation(value, p.value, p.same_input))
        if isinstance(p, Alternatives):
            return self._alternatives(p, is_root)
        if isinstance(p, Constrained):
            return self._constrained(p, is_root)
        if isinstance(p, TuplePattern):
            return tuple_step(self, p)
        if isinstance(p, ItemPattern):
            return item_step(self, p)
        if isinstance(p, IfPattern):
            return if_step(self, p)
        if isinstance(p, LetPattern):
            return let_step(self, p)
        if isinstance(p, FunctionPattern):
            return function_step(self, p)
        if isinstance(p, AnyCall):
            return any_call_step(self, p)
        if isinstance(p, Dominator):
            return dominator_step(self, p, is_root)
        raise RuleError(f"{p!r} matches no value: apply it to operands")

    def _once(self, p: Pattern, test: Callable[[SSAValue], bool] | None) -> Step:
        """Binds a leaf to a value that passes the test, or compares with what it is bound to."""
        slot = self.slots[p]

        def match_leaf(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            bound = m.env[slot]
            if bound is UNBOUND:
                if test is not None and not test(value):
                    return FAIL
                m.trail.append((slot, UNBOUND, value))  # as `bind` does: most steps end here
                m.env[slot] = value
                return rest
            return rest if bound is value else FAIL

        return match_leaf

    def _input_test(self, p: InputVar) -> Callable[[SSAValue], bool]:
        name, is_let = p.name, p in self._let_variables

        def is_input(value: SSAValue) -> bool:
            return (is_let or not isinstance(value.owner, Operation)) and (not name or value.name_hint == name)

        return is_input

    def _redirected(self, p: Var) -> Step:
        """The step of the pattern that a variable was redirected to, in a scope of its own."""
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

        last: Any = None  # one type after the other is the same object

        def holds(value: SSAValue) -> bool:
            nonlocal last
            if p.kind == "has_attr":
                return has_attributes(value.owner, p.wanted)
            type_ = type_of(value)
            if type_ is last:
                return True
            if condition(type_):
                last = type_
                return True
            return False

        def match_constrained(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            if not holds(value):
                return FAIL
            m.bind(slot, value)
            return (inner, value, rest)

        return match_constrained

    def _op_value(self, p: OpPattern, is_root: bool) -> Step:
        match_op = self._op(p)
        wanted, index, slot = p.op, p.index, self.slots[p.origin]
        same_block = not (is_root or p.facts.ACROSS_BLOCKS)
        single = self.interior_single and not is_root and not p.may_share
        if single and self.count[p.origin] > 1:
            if p.origin not in self.repeated:
                self.repeated.append(p.origin)
            single = False

        def match_value(value: SSAValue, rest: Goals, m: Attempt) -> Goals:
            op: Any = value.owner
            if type(op) is not wanted or (single and not value.has_one_use()):
                return FAIL
            if same_block and op.parent is not m.block:
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
        swaps = p.facts.COMMUTES and arity == 2
        steps = [self.step(a) for a in p.args]

        def match_op(op: Operation, rest: Goals, m: Attempt) -> Goals:
            operands = operands_of(op)
            if arity is not None and len(operands) != arity:
                return FAIL
            straight, turned = True, swaps
            for i, classes in screen:
                if type(operands[i].owner) not in classes:
                    straight = False
                if turned and type(operands[1 - i].owner) not in classes:
                    turned = False
            if not (straight or turned):
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
                if turned and a is not b:
                    m.choose(swapped)
                return (steps[0], a, (steps[1], b, rest))
            for i in range(arity - 1, -1, -1):
                rest = (steps[i], operands[i], rest)
            return rest

        return match_op


def count_ops(p: Pattern, count: dict[OpPattern, int]) -> None:
    """Count the occurrences of each op pattern into `count`."""
    stack, expanded = [p], set[Pattern]()
    while stack:
        q = stack.pop()
        if isinstance(q, OpPattern):
            count[q.origin] = count.get(q.origin, 0) + 1
        if q not in expanded:  # the parts of a part that was seen are inside it
            expanded.add(q)
            stack.extend(followed(q))
