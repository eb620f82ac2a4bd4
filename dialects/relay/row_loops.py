"""Loops of the statements that ops are made of where no index equation says what they do (`te.extern`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lamina.dialects.lazy import LazyModule
from lamina.dialects.relay.declare import *

if TYPE_CHECKING:
    import lamina.dialects.te.ir_builder as statements

    Place: TypeAlias = tuple[Index, ...]
    Statement: TypeAlias = Callable[[Place], None]
    Body: TypeAlias = Callable[[IRBuilder, list[Buffer], list[Buffer]], None]
else:
    statements = LazyModule("lamina.dialects.te.ir_builder")


def extern_tensor(shape: Sequence[int], dtype: str, inputs: Sequence[Tensor], body: Body, name: str) -> Tensor:
    """The tensor that `body(ib, ins, outs)` writes into `outs[0]`; an empty one needs no statements."""
    if te.has_no_elements(shape):
        return empty(shape, dtype, name)
    (result,) = statements.extern([shape], inputs, body, name, [dtype])
    return result


def empty(shape: Sequence[int], dtype: str, name: str) -> Tensor:
    """A tensor of no elements."""
    return te.compute(shape, lambda *_: te.const(0, dtype), name)


def each_place(ib: IRBuilder, extents: Sequence[int], statement: Statement, parallel: bool = False) -> None:
    """`statement(place)` at every place of a box, in row-major order; with `parallel` the outermost loop that has steps
    to share is shared.

    Statements of a shared loop must write at different places.
    """

    outermost = next((n for n, e in enumerate(extents) if is_symbolic(e) or e > 1), None)

    def loop(place: Place) -> None:
        depth = len(place)
        if depth == len(extents):
            statement(place)
            return
        shared = parallel and depth == outermost
        with ib.for_range(0, extents[depth], f"r{depth}", "parallel" if shared else "serial") as i:
            loop((*place, i))

    loop(())


def in_parallel(
    extents: Sequence[int], statement: Callable[[IRBuilder, list[Buffer], list[Buffer], Place], None]
) -> Body:
    """The body `statement(ib, ins, outs, place)` at every place of a box, whose outermost loop is shared."""
    return lambda ib, ins, outs: each_place(ib, extents, lambda place: statement(ib, ins, outs, place), parallel=True)


def inserted(place: Sequence[Any], axis: int, at: Any) -> tuple[Any, ...]:
    """The place with one more coordinate, which stands on `axis`."""
    return (*place[:axis], at, *place[axis:])


__all__ = ["each_place", "empty", "extern_tensor", "in_parallel", "inserted", "statements"]
