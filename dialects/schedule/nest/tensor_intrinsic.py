"""A tensor intrinsic ready for use: what it computes as a naive nest, and bodies that do the same on windows.

A body is written on dense buffers of the windows' shapes. `Window` says where such a window lies in a real buffer:
element w of the window is element base + factors * w of the buffer. Putting a body in place rewrites its
accesses by that map, so it never holds a pointer, and later passes see ordinary tir.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import ZERO, Linear, Ranges, recombine
from lamina.dialects.schedule.nest.edits import unique_axis
from lamina.dialects.tir.memory import AccessOp, AllocOp, type_of
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, enclosing_loops


@dataclass(frozen=True)
class TensorIntrinsic:
    """A declaration, its description lowered. `body` is the whole computation, `update` adds to what `reset` began."""

    name: str
    desc: FuncOp
    """The naive nest: the inputs, then the result."""
    body: FuncOp | None
    reset: FuncOp | None
    update: FuncOp | None
    strides: tuple[tuple[int, ...] | None, ...]
    """The strides that the implementation asks of each operand, in elements; -1 is any, None asks nothing."""
    offset_factors: tuple[int, ...]
    """Each operand starts at a multiple of this many elements."""

    @property
    def block(self) -> BlockOp:
        """The one block of the description."""
        return next(op for op in self.desc.walk() if type(op) is BlockOp)

    @property
    def loops(self) -> list[ForOp]:
        """The loops of the description, outermost first."""
        return enclosing_loops(self.block)

    @property
    def operands(self) -> list[BlockArgument]:
        """The description's buffers."""
        return list(self.desc.body.block.args)

    @property
    def is_reduction(self) -> bool:
        return bool(self.block.init.blocks)


class Window(NamedTuple):
    """The place of a window: dimension d of the buffer is base[d] + sum over w of factors[d][w] * (index w)."""

    buffer: SSAValue
    base: tuple[Linear, ...]
    factors: tuple[tuple[int, ...], ...]

    def at(self, index: Sequence[Linear], ranges: Ranges) -> list[Linear]:
        """The buffer's index of a window's element."""
        found: list[Linear] = []
        for base, factors in zip(self.base, self.factors, strict=True):
            form = base
            for factor, part in zip(factors, index, strict=True):
                form = form + part * factor
            found.append(recombine(form).simplify(ranges))
        return found

    def strides(self, rank: int) -> list[int | None]:
        """The distance in memory of neighbours along each window dimension; None where a size decides that."""
        steps = buffer_strides(self.buffer)
        found: list[int | None] = []
        for w in range(rank):
            total: int | None = 0
            for step, factors in zip(steps, self.factors, strict=True):
                if factors[w]:
                    total = None if total is None or step is None else total + factors[w] * step
            found.append(total)
        return found

    def offset(self) -> Linear | None:
        """The place of the window's first element in memory; None where a size decides that."""
        total = ZERO
        for step, base in zip(buffer_strides(self.buffer), self.base, strict=True):
            if base == ZERO:
                continue
            if step is None:
                return None
            total = total + base * step
        return recombine(total)


def buffer_strides(buffer: SSAValue) -> list[int | None]:
    """The element strides of a dense buffer; None where an unknown extent stands behind."""
    strides: list[int | None] = []
    step: int | None = 1
    for extent in reversed(type_of(buffer).get_shape()):
        strides.append(step)
        step = None if step is None or extent == DYNAMIC_INDEX else step * extent
    return strides[::-1]


def place_body(body: FuncOp, windows: Sequence[Window], func: FuncOp, stage: str, taken: set[str]) -> list[Operation]:
    """The ops of an implementation on real buffers; its loops and buffers get names that the function has not.

    `taken` collects the axis names given so far to what is not yet part of the function.
    """
    clone = body.clone()
    block = clone.body.block
    for argument, window in zip(block.args, windows, strict=True):
        for use in list(argument.uses):
            op = use.operation
            assert isinstance(op, AccessOp)
            ranges = RangeCache({LANE: (0, (op.lanes or 1) - 1)})
            forms = window.at(op.forms(), ranges)
            conditions = [Condition(c.form, c.equal) for c in op.conditions()]
            operands = list(op.operands)
            operands[op.buffer_position()] = window.buffer
            op.operands = operands
            op.set_access(forms, conditions)
    for op in block.walk():
        if isinstance(op, ForOp):
            op.properties["axis"] = StringAttr(_free_axis(func, f"{stage}.{op.axis.data}", taken))
        elif isinstance(op, AllocOp):
            op.properties["stage"] = StringAttr(f"{stage}.{op.stage.data}")
    ops = list(block.ops)
    for op in ops:
        edit.take(op)
    edit.erase(clone)
    return ops


def _free_axis(func: FuncOp, wanted: str, taken: set[str]) -> str:
    name, n = unique_axis(func, wanted), 0
    while name in taken:
        n += 1
        name = unique_axis(func, f"{wanted}_{n}")
    taken.add(name)
    return name
