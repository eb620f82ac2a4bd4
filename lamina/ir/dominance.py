"""Every use of a value is dominated by its definition: a linear check without recursion.

The ops are visited in the order of the dominator tree with the set of visible values, which is cut back on leaving
a block. A region of one block, by far the commonest, needs no tree. `builtin.module` is a graph region, where order
does not matter; an op that is isolated from above starts with nothing visible; unreachable blocks dominate nothing
and are not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from lamina.dialects.fast_ir import operands_of


class DominanceViolation(NamedTuple):
    """A use that its definition does not dominate."""

    op: Operation
    operand: int
    value: SSAValue


class _Enter(NamedTuple):
    """Visit a block, then the blocks that it immediately dominates."""

    block: Block
    dominated: list[_Enter]


class _After(NamedTuple):
    """The regions of an op are done: show its results and go on behind it."""

    op: Operation


class _Cut(NamedTuple):
    """Forget the values that were shown since."""

    mark: int


class _Restore(NamedTuple):
    """Leave an op that is isolated from above."""

    visible: set[SSAValue]
    trail: list[SSAValue]


def find_violation(root: Operation, unreached: list[Block] | None = None) -> DominanceViolation | None:
    """The first violation inside `root`, None where there is none. Adds the blocks that nothing reaches to a list."""
    isolated: dict[type[Operation], bool] = {}
    visible: set[SSAValue] = set()
    trail: list[SSAValue] = []
    stack: list[_Enter | _After | _Cut | _Restore] = []

    def show(values: Sequence[SSAValue]) -> None:
        for value in values:
            visible.add(value)
            trail.append(value)

    def enter_regions(op: Operation) -> None:
        nonlocal visible, trail
        kind = type(op)
        alone = isolated.get(kind)
        if alone is None:
            alone = isolated[kind] = bool(op.get_traits_of_type(IsolatedFromAbove))
        if alone:
            stack.append(_Restore(visible, trail))
            visible, trail = set(), []
        for region in reversed(op.regions):
            first = region.blocks.first
            if first is not None:
                stack.append(_Enter(first, []) if first.next_block is None else _tree(region, unreached))

    enter_regions(root)
    while stack:
        frame = stack.pop()
        if isinstance(frame, _Cut):
            while len(trail) > frame.mark:
                visible.discard(trail.pop())
            continue
        if isinstance(frame, _Restore):
            visible, trail = frame
            continue
        if isinstance(frame, _Enter):
            stack.append(_Cut(len(trail)))
            stack.extend(reversed(frame.dominated))
            show(frame.block.args)
            if isinstance(frame.block.parent_op(), ModuleOp):
                for o in frame.block.ops:
                    show(o.results)
            op = frame.block.first_op
        else:
            show(frame.op.results)
            op = frame.op.next_op
        while op is not None:
            for index, value in enumerate(operands_of(op)):
                if value not in visible:
                    return DominanceViolation(op, index, value)
            if op.regions:
                stack.append(_After(op))
                enter_regions(op)
                break
            show(op.results)
            op = op.next_op
    return None


def _tree(region: Region, unreached: list[Block] | None) -> _Enter:
    immediate = dominator_tree(region)
    if unreached is not None:
        unreached += [block for block in region.blocks if block not in immediate]
    nodes = {block: _Enter(block, []) for block in region.blocks if block in immediate}
    for block, node in nodes.items():
        if immediate[block] is not block:
            nodes[immediate[block]].dominated.append(node)
    return next(iter(nodes.values()))  # the entry is the first block


def dominator_tree(region: Region) -> dict[Block, Block]:
    """Each reachable block's immediate dominator (the entry's is itself), by Cooper, Harvey and Kennedy."""
    entry = region.blocks.first
    if entry is None:
        return {}
    order = _postorder(entry)
    number = {block: i for i, block in enumerate(order)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for successor in _successors(block):
            if successor in number:
                predecessors[successor].append(block)
    immediate: dict[Block, Block] = {entry: entry}

    def intersect(a: Block, b: Block) -> Block:
        while a is not b:
            while number[a] < number[b]:
                a = immediate[a]
            while number[b] < number[a]:
                b = immediate[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in reversed(order):
            if block is entry:
                continue
            found: Block | None = None
            for p in predecessors[block]:
                if p in immediate:
                    found = p if found is None else intersect(p, found)
            if found is not None and immediate.get(block) is not found:
                immediate[block] = found
                changed = True
    return immediate


def _successors(block: Block) -> tuple[Block, ...]:
    last = block.last_op
    return tuple(last.successors) if last is not None else ()


def _postorder(entry: Block) -> list[Block]:
    order: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, rest = stack[-1]
        for successor in rest:
            if successor not in seen and successor.parent is entry.parent:
                seen.add(successor)
                stack.append((successor, iter(_successors(successor))))
                break
        else:
            order.append(block)
            stack.pop()
    return order
