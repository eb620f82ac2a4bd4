"""Matchers of left sides whose parts do not depend on each other: ops, constraints and variables that stand once.

Which way round the operands of an op that commutes are is decided by themselves then, nothing that was bound is taken
back, and a match is a few nested calls. `pattern_matching.py` has the matcher of all patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from xdsl.ir import Attribute, Block, SSAValue

from lamina.dialects.fast_ir import operands_of, type_of
from lamina.dialects.rules.patterns import Constrained, ConstVar, OpPattern, Pattern, Splat, Var
from lamina.passes.rules.pattern_conditions import CONSTANTS, splat_test, type_condition

Matcher: TypeAlias = "Callable[[SSAValue, list[Any], Block | None], bool]"
"""Whether a value matches, the root standing in a block; what stands for what is put into slots."""


def direct_matcher(p: Pattern, slots: Mapping[Any, int], is_root: bool = True) -> Matcher | None:
    """The matcher of a pattern, each part of which stands once; None where it has parts of other kinds."""
    if isinstance(p, OpPattern):
        return _op_matcher(p, slots, is_root)
    if isinstance(p, Constrained) and p.kind != "has_attr":
        inner = direct_matcher(p.pattern, slots, is_root)
        return None if inner is None else _typed_matcher(slots[p], type_condition(p.kind, p.wanted), inner)
    if isinstance(p, Var) and p.target is None:
        return _leaf_matcher(slots[p], None)
    if isinstance(p, ConstVar):
        return _leaf_matcher(slots[p], lambda value: type(value.owner) in CONSTANTS)
    return _leaf_matcher(slots[p], splat_test(p.number)) if isinstance(p, Splat) else None


def _leaf_matcher(slot: int, test: Callable[[SSAValue], bool] | None) -> Matcher:
    def match(value: SSAValue, env: list[Any], block: Block | None) -> bool:
        if test is not None and not test(value):
            return False
        env[slot] = value
        return True

    return match


def _typed_matcher(slot: int, holds: Callable[[Attribute], bool], inner: Matcher) -> Matcher:
    last: Attribute | None = None  # one type after the other is the same object

    def match(value: SSAValue, env: list[Any], block: Block | None) -> bool:
        nonlocal last
        type_ = type_of(value)
        if type_ is not last:
            if not holds(type_):
                return False
            last = type_
        env[slot] = value
        return inner(value, env, block)

    return match


def _op_matcher(p: OpPattern, slots: Mapping[Any, int], is_root: bool) -> Matcher | None:
    parts = [direct_matcher(a, slots, False) for a in p.args]
    matchers = [m for m in parts if m is not None]
    if p.attrs or p.any_args or p.index is not None or len(matchers) < len(parts):
        return None
    wanted, slot, arity = p.op, slots[p.origin], len(matchers)
    alone, same_block = not (is_root or p.may_share), not (is_root or p.facts.ACROSS_BLOCKS)
    swaps = p.facts.COMMUTES and arity == 2

    def match(value: SSAValue, env: list[Any], block: Block | None) -> bool:
        op: Any = value.owner
        if type(op) is not wanted or (alone and not value.has_one_use()) or (same_block and op.parent is not block):
            return False
        operands = operands_of(op)
        if len(operands) != arity:
            return False
        env[slot] = op
        if swaps:
            (a, b), (one, other) = operands, matchers
            return (one(a, env, block) and other(b, env, block)) or (one(b, env, block) and other(a, env, block))
        for matches, operand in zip(matchers, operands, strict=True):
            if not matches(operand, env, block):
                return False
        return True

    return match
