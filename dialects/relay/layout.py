"""Layout strings ("NCHW", "NCHW16c", "OIHW16i32o") and what an op says about them.

An upper-case letter is an axis of the tensor as the model knows it, in order of memory; a number with a lower-case
letter is the inner part of a split axis: "NCHW16c" stores channel c at [n, c floordiv 16, h, w, c mod 16].
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from lamina.dialects.infos import TypeMismatch

_PART = re.compile(r"([A-Z])|(\d+)([a-z])")


class Axis(NamedTuple):
    """One dimension of a stored tensor: its letter, and the block extent if it is an inner part (else 0)."""

    letter: str
    block: int


@cache
def parse_layout(layout: str) -> tuple[Axis, ...]:
    """The axes of a layout string. Raises TypeMismatch for a malformed one."""
    axes: list[Axis] = []
    position = 0
    while position < len(layout):
        match = _PART.match(layout, position)
        if match is None:
            raise TypeMismatch(f"layout {layout!r} is malformed")
        outer, block, inner = match.groups()
        axes.append(Axis(outer, 0) if outer else Axis(inner, int(block)))
        position = match.end()
    letters = [a.letter for a in axes]
    orphans = [a for a in axes if a.block and a.letter.upper() not in letters]
    if (
        not axes
        or len(set(letters)) != len(letters)
        or orphans
        or [a for a in axes if a.letter.islower() and not a.block]
    ):
        raise TypeMismatch(f"layout {layout!r} is malformed")
    return tuple(axes)


@cache
def axis_of(layout: str, letter: str) -> int:
    """The position of an axis. Raises TypeMismatch when the layout lacks it."""
    for position, axis in enumerate(parse_layout(layout)):
        if axis.letter == letter:
            return position
    raise TypeMismatch(f"layout {layout!r} has no axis {letter!r}")


@cache
def block_of(layout: str, letter: str) -> int:
    """The extent of the inner part of an axis; 1 when it is not split."""
    return next((a.block for a in parse_layout(layout) if a.letter == letter.lower()), 1)


@cache
def plain(layout: str) -> str:
    """The layout without its inner parts: "NCHW" for "NCHW16c"."""
    return "".join(a.letter for a in parse_layout(layout) if not a.block)


def extents(layout: str, shape: tuple[int, ...]) -> dict[str, int]:
    """The whole extent of every axis, blocks multiplied in. Raises TypeMismatch when ranks differ."""
    axes = parse_layout(layout)
    if len(axes) != len(shape):
        raise TypeMismatch(f"layout {layout!r} has {len(axes)} axes, the tensor rank {len(shape)}")
    result: dict[str, int] = {}
    for axis, extent in zip(axes, shape, strict=True):
        if axis.block and axis.block != extent:
            raise TypeMismatch(f"layout {layout!r} has blocks of {axis.block}, the tensor {extent}")
        key = axis.letter.upper()
        result[key] = result.get(key, 1) * extent
    return result


def stored_shape(layout: str, extent_of: Mapping[str, int]) -> tuple[int, ...]:
    """The shape in memory of a tensor with the given whole extents; a split axis is padded to whole blocks."""
    return tuple(a.block or -(-extent_of[a.letter] // block_of(layout, a.letter)) for a in parse_layout(layout))


@dataclass(frozen=True)
class LayoutChoice:
    """The choice of an op among the layouts offered to it: the result of its `infer_layout` facet.

    `infer_layout(layouts, types, **attrs)` is given the layout that each operand arrives in ("" where it is unknown
    or has none) and the plain operand types; it answers with the layouts that it wants them in. relay-convert-layout
    walks the graph once in order, and for each op with the facet

    1. inserts `relay.layout_transform` before every operand whose layout differs from `inputs` (a constant's is
       folded, which is how weights are packed at compile time),
    2. builds the op `op` (the same one where it is empty) with `attrs` put over its own,
    3. remembers `output` as the layout of the result; at an op that knows no layouts it transforms back.

    An op that keeps the plain layout returns it; it never raises. An operand's layout "" means: as it is.
    """

    inputs: tuple[str, ...]
    output: str
    attrs: dict[str, Any] = field(default_factory=dict[str, Any])
    op: str = ""
