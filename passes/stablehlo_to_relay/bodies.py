"""Regions of two elements by their forms: sums, the largest one, the first of the largest, orders."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Block, BlockArgument, Region, SSAValue

from lamina.dialects.stablehlo.control import returned

WORDS = {
    "stablehlo.add": "add",
    "stablehlo.multiply": "mul",
    "stablehlo.minimum": "min",
    "stablehlo.maximum": "max",
    "stablehlo.and": "and",
    "stablehlo.or": "or",
    "stablehlo.xor": "xor",
}


def word_of(region: Region) -> str | None:
    """The op that a region of two elements applies, `update` where it gives the second one, else None."""
    block = region.block
    values = returned(region)
    if len(block.args) != 2 or len(values) != 1:
        return None
    first, second = block.args
    if values[0] is second:
        return "update"
    op = values[0].owner
    if isinstance(op, Block) or set(op.operands) != {first, second} or len(op.operands) != 2:
        return None
    return WORDS.get(op.name)


def _comparison(value: SSAValue) -> tuple[str, SSAValue, SSAValue] | None:
    op: Any = value.owner
    if isinstance(op, Block) or op.name != "stablehlo.compare":
        return None
    return op.comparison_direction.data, op.lhs, op.rhs


def extreme_with_place(region: Region) -> str | None:
    """`argmax` or `argmin` of a region on values and places that keeps the first of the extreme ones, else None.

    The form is JAX's: the value is `select(a > b or a != a, a, b)`, the place
    `select(a > b or a != a or a == b and i < j, i, j)`.
    """
    block = region.block
    values = returned(region)
    if len(block.args) != 4 or len(values) != 2:
        return None
    a, i, b, j = block.args
    picked: list[tuple[SSAValue, ...]] = []
    for value in values:
        op: Any = value.owner
        if isinstance(op, Block) or op.name != "stablehlo.select":
            return None
        picked.append(tuple(op.operands))
    if picked[0][1:] != (a, b) or picked[1][1:] != (i, j):
        return None
    better = _terms(picked[0][0])
    first = _terms(picked[1][0])
    if better is None or first is None:
        return None
    for word, direction in (("argmax", "GT"), ("argmin", "LT")):
        wins = {(direction, a, b)}
        broken = {("NE", a, a)}
        tie = frozenset({("EQ", a, b), ("LT", i, j)})
        if better in (wins, wins | broken) and first in (wins | {tie}, wins | broken | {tie}):
            return word
    return None


def _terms(value: SSAValue) -> set[Any] | None:
    """The terms of an `or`: comparisons, and sets of comparisons that hold together."""
    op: Any = value.owner
    if isinstance(op, Block):
        return None
    if op.name == "stablehlo.or":
        sides = [_terms(v) for v in op.operands]
        return None if None in sides else set[Any]().union(*(s for s in sides if s is not None))
    if op.name == "stablehlo.and":
        parts = [_comparison(v) for v in op.operands]
        return None if None in parts else {frozenset(parts)}
    found = _comparison(value)
    return None if found is None else {found}


def order_of(region: Region) -> tuple[int, str] | None:
    """The operand by which a comparator orders, and the relation (`LT`, `GT`, ...), else None."""
    values = returned(region)
    found = compared(values[0], region.block) if len(values) == 1 else None
    return None if found is None or found[1] in ("EQ", "NE") else found


def compared(value: SSAValue, block: Block) -> tuple[int, str] | None:
    """The operand of which a comparison compares the two elements, and its relation, else None.

    Both elements may go through the same ops before they are compared, as JAX makes zeros and NaNs alike.
    """
    found = _comparison(value)
    if found is None:
        return None
    direction, x, y = found
    place = _same_function(x, y, block)
    return None if place is None else (place, direction)


def _same_function(x: SSAValue, y: SSAValue, block: Block) -> int | None:
    """The n of which x is a function of argument 2n, and y the same function of argument 2n + 1."""
    found: set[int] = set()

    def same(a: SSAValue, b: SSAValue) -> bool:
        if isinstance(a, BlockArgument) and isinstance(b, BlockArgument) and a.owner is block and b.owner is block:
            found.add(a.index // 2)
            return a.index % 2 == 0 and b.index == a.index + 1
        if a is b:
            return True
        p, q = a.owner, b.owner
        if (
            isinstance(p, Block)
            or isinstance(q, Block)
            or p.name != q.name
            or p.properties != q.properties
            or p.regions
        ):
            return False
        if p.parent is not block or len(p.operands) != len(q.operands):
            return False
        return all(same(u, v) for u, v in zip(p.operands, q.operands, strict=True))

    return found.pop() if same(x, y) and len(found) == 1 else None
