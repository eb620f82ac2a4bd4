"""Limits of a kernel for a code generator, which takes minutes for longer code and dies of wider vectors."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Operation

from lamina.dialects.tir.ops import ForOp

MAX_LANES = 4096
"""The elements of a vector."""
MAX_UNROLLED = 1 << 16
"""The ops of a loop whose iterations are written out."""


class UnrollError(Exception):
    """A loop written out would be longer than MAX_UNROLLED."""

    def __init__(self, loop: ForOp, length: int) -> None:
        super().__init__(
            f"{loop.axis.data!r} unrolled {loop.trip} times is {length} ops long, the limit is {MAX_UNROLLED}"
        )
        self.loop = loop


def unrolled_length(ops: Iterable[Operation]) -> int:
    """The number of ops once unrolled loops are written out. Raises UnrollError at the first that is too long."""
    return sum(_length(op) for op in ops)


def _length(op: Operation) -> int:
    blocks: list[Block] = [b for r in op.regions for b in r.blocks]
    inside = sum(unrolled_length(b.ops) for b in blocks)
    if isinstance(op, ForOp) and op.is_unrolled:
        length = inside * op.trip
        if length > MAX_UNROLLED:
            raise UnrollError(op, length)
        return length
    return inside + 1
