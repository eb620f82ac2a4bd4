"""Facts inside a kernel: the bounds of the loops around an op, and the conditions under which it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation

from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.ops import ForOp, FuncOp


def facts_inside(op: Operation) -> Sequence[Condition]:
    """The conditions that hold inside an op, beside those outside of it and the ranges of its own variables."""
    if isinstance(op, ForOp):
        return [Condition(bound - Linear.dim(op.var) - 1) for bound in op.min_bounds()] if op.bound_map else ()
    if isinstance(op, ConditionalBase):
        return op.conditions()
    return ()


def facts_at(op: Operation) -> Facts:
    """The facts that hold where an op stands. Its own guard or bounds are not part of it."""
    conditions: list[Condition] = []
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        conditions = [*facts_inside(parent), *conditions]
        parent = parent.parent_op()
    return Facts(RangeCache(), conditions)


def walk_with_facts(block: Block, facts: Facts | None = None) -> Iterator[tuple[Operation, Facts]]:
    """Each op of a block with what holds where it stands, before those that stand in it.

    The op may be changed, which counts for what holds inside it, erased, or dissolved: what has taken its place comes
    next, with the same facts.
    """
    facts = facts or Facts(RangeCache())
    waiting: list[tuple[Block, Operation | None, Facts]] = [(block, block.first_op, facts)]
    while waiting:
        block, op, facts = waiting.pop()
        while op is not None:
            before = op.prev_op
            yield op, facts
            if op.parent is not block:
                op = block.first_op if before is None else before.next_op
                continue
            following = op.next_op
            if op.regions:
                inside = facts.given(facts_inside(op))
                waiting.append((block, following, facts))
                inner = [b for region in op.regions for b in region.blocks]
                waiting += [(b, b.first_op, inside) for b in reversed(inner)]
                break
            op = following
