"""What is known inside a kernel: the bounds of the loops around an op, and the conditions under which it runs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

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
    """What holds where an op stands. Its own guard or bounds are not part of it."""
    conditions: list[Condition] = []
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        conditions = [*facts_inside(parent), *conditions]
        parent = parent.parent_op()
    return Facts(RangeCache(), conditions)
