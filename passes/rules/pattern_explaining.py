"""Reasons why a pattern does not match: the first thing that is wrong in the attempt that got furthest.

    explain(pattern, value)      'the operand 1 of nn.dense: expected a constant, found the parameter %w'

An attempt that fails and is taken up elsewhere fails again; of all failures the one with the most ops matched before
it says most. A match that is complete fails on its guard, its check, or an inner op that others use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, Operation, OpResult, SSAValue

from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.rules.graph_patterns import OpWord
from lamina.dialects.rules.patterns import Alternatives, Constrained, ConstVar, OpPattern, Pattern, Splat, Var
from lamina.dialects.rules.values import Expr
from lamina.passes.relay.partition.pattern_tables import Check, Unfit
from lamina.passes.rules.dataflow_matching import CompiledPattern, Match, blocking_use
from lamina.passes.rules.match_attempts import FAIL, UNBOUND, Attempt, Goals
from lamina.passes.rules.pattern_conditions import attribute_test, python_value, root_classes, type_condition


@dataclass
class Mismatch:
    """The best partial match of a pattern at a value."""

    ops: tuple[Operation, ...]
    """The ops that were matched before it failed."""
    reason: str
    at: Operation | None = None
    """The op at which it failed; None where that is no op."""

    def rank(self, op: Operation) -> tuple[bool, int]:
        """The weight of the mismatch for an op: a match that got past it says more than one that stopped there."""
        return op in self.ops, len(self.ops)


def explain(pattern: Pattern, expr: SSAValue | Operation) -> str | None:
    """The reason why a pattern does not match a value (an op's first result); None where it does."""
    value = expr if isinstance(expr, SSAValue) else expr.results[0]
    found = mismatch(CompiledPattern(pattern), value, closed=False)
    return None if found is None else found.reason


def mismatch(
    compiled: CompiledPattern,
    value: SSAValue,
    check: Check | None = None,
    closed: bool = True,
) -> Mismatch | None:
    """The best partial match at a value, None where the pattern matches.

    With `closed` the match must also serve nothing else, as partitioning wants it.
    """
    best = Mismatch((), "it is not tried")
    compiler = compiled.compiler
    first = True

    def note(ops: tuple[Operation, ...], reason: Callable[[], str], at: Operation | None) -> None:
        nonlocal best, first
        if first or len(ops) > len(best.ops):
            best, first = Mismatch(ops, reason(), at), False

    def bound(m: Attempt) -> tuple[Operation, ...]:
        return tuple(dict.fromkeys(v for _, _, v in m.trail if isinstance(v, Operation)))

    def observe(goals: Goals, m: Attempt) -> None:
        step: Any = goals[0]
        at: Any = goals[1]
        p = compiler.pattern_of.get(step)
        if p is not None and at is not None:
            owner = at.owner if isinstance(at.owner, Operation) else None
            # An op of the right kind with wrong operands is matched further than one of another kind.
            right = owner is not None and isinstance(p, OpPattern) and type(owner) is p.op
            note((*bound(m), _LAST) if right else bound(m), lambda: why(p, at, m, compiler.slots), owner)

    def finish(_: Any, rest: Goals, m: Attempt) -> Goals:
        for text, guard in compiled.guards:
            holds = guard(m.env)
            if not holds:
                reason = holds.reason if isinstance(holds, Unfit) else f"{text} does not hold"
                note((*bound(m), _LAST, _LAST), lambda reason=reason: reason, None)
                return FAIL
        made = Match(compiled, m, value)
        use = blocking_use(made) if closed else None
        if use is not None:
            note((*bound(m), _LAST, _LAST), lambda: f"{named(use[0])} is used by {named(use[1])} too", use[0])
            return FAIL
        fits = check is None or check(value)
        if not fits:
            note(
                (*bound(m), _LAST, _LAST),
                lambda: fits.reason if isinstance(fits, Unfit) else "its check refuses it",
                None,
            )
            return FAIL
        return rest

    attempt = compiled.attempt()
    attempt.observer = observe
    if attempt.run((compiler.root, value, (finish, None, None))):
        return None
    return Mismatch(tuple(o for o in best.ops if o is not _LAST), best.reason, best.at)


_LAST: Any = ConstantOp.create(result_types=[])
"""Counts as one op more: what is found out late says more."""


def why(p: Pattern, value: SSAValue, m: Attempt, slots: dict[Any, int]) -> str:
    """The reason why a value does not fit a pattern; alternatives and constraints say what is wrong inside them."""
    owner = value.owner
    if isinstance(p, Alternatives):
        return f"expected {' or '.join(dict.fromkeys(wanted(c) for c in p.choices))}, found {named(value)}"
    if isinstance(p, OpPattern):
        if not isinstance(owner, Operation) or type(owner) is not p.op:
            return f"expected {wanted(p)}, found {named(value)}"
        if p.index is not None and owner.results.index(value) != p.index:  # pyright: ignore[reportArgumentType]
            return f"expected result {p.index} of {word(owner)}, found result {_number(value)}"
        return _why_op(p, owner, m, slots)
    if isinstance(p, Constrained):
        if p.kind == "has_attr" or not type_condition(p.kind, p.wanted)(value.type):
            found = value.type if p.kind != "has_attr" else "other attributes"
            return f"{named(value)}: expected {p.kind}({p.wanted!r}), found {found}"
        return why(p.pattern, value, m, slots)
    slot = slots.get(p)
    if isinstance(p, (Var, ConstVar)) and slot is not None and m.env[slot] is not UNBOUND:
        other: Any = m.env[slot]
        return f"{named(value)} is another value than {named(other)}"
    return f"expected {wanted(p)}, found {named(value)}"


def _why_op(p: OpPattern, op: Operation, m: Attempt, slots: dict[Any, int]) -> str:
    if not p.any_args and len(op.operands) != len(p.args):
        return f"{word(op)} has {len(op.operands)} operands, expected {len(p.args)}"
    orders = [list(op.operands)]
    if p.facts.COMMUTES and len(p.args) == 2:
        orders.append(orders[0][::-1])
    complaints: list[str] = []
    for operands in orders:
        for i, (a, v) in enumerate(zip(p.args, operands, strict=False)):
            classes = root_classes(a)
            if classes is not None and type(v.owner) not in classes:
                which = f"operand {i} of {word(op)}" if len(orders) == 1 else f"an operand of {word(op)}"
                complaints.append(f"{which}: expected {wanted(a)}, found {named(v)}")
                break
    if len(complaints) == len(orders):
        # Of two ways round the one whose wanted op is of more interest than a constant.
        return complaints[0]
    for name, expected in p.attrs.items():
        found = python_value(op.properties.get(name))
        if isinstance(expected, Expr):
            slot = slots[expected]
            if m.env[slot] is not UNBOUND and m.env[slot] != found:
                return f"{name} of {word(op)} is {found!r}, expected {m.env[slot]!r}"
        elif not attribute_test(expected)(op.properties.get(name)):
            return f"{name} of {word(op)} is {found!r}, expected {expected!r}"
    return f"{word(op)} is another one than the {word(op)} elsewhere in the pattern"


def wanted(p: Pattern) -> str:
    """The words for what a pattern asks for at its root."""
    if isinstance(p, Alternatives):
        return " or ".join(dict.fromkeys(wanted(c) for c in p.choices))
    if isinstance(p, (OpPattern, OpWord)):
        return p.op.name.removeprefix("relay.")
    if isinstance(p, ConstVar):
        return "a constant"
    if isinstance(p, Splat):
        return f"the constant {p.number!r}"
    if isinstance(p, Constrained):
        return wanted(p.pattern)
    return "any value" if isinstance(p, Var) else repr(p)


def named(what: SSAValue | Operation) -> str:
    """A value or an op for a message: `nn.relu (%r)`, `the parameter %x`, `a constant`."""
    value = what if isinstance(what, SSAValue) else (what.results[0] if what.results else None)
    owner = what.owner if isinstance(what, SSAValue) else what
    hint = f"%{value.name_hint}" if value is not None and value.name_hint else ""
    if isinstance(owner, Block):
        return f"the parameter {hint}".rstrip()
    if isinstance(owner, ConstantOp):
        return f"the constant {hint}" if hint else "a constant"
    return f"{word(owner)} ({hint})" if hint else word(owner)


def word(op: Operation) -> str:
    """The op's name as users know it; a call of a composite by the composite's."""
    if op.name == "relay.call":
        function = op.operands[0].owner
        composite = function.attributes.get("Composite") if isinstance(function, Operation) else None
        return f"the composite {composite.data}" if composite is not None else "a call"  # type: ignore[attr-defined]
    if op.name == "func.call":
        return f"the call of @{op.properties['callee'].string_value()}"  # type: ignore[attr-defined]
    return op.name.removeprefix("relay.")


def _number(value: SSAValue) -> int:
    return value.index if isinstance(value, OpResult) else 0
