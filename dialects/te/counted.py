"""Reshapes that merge or split dimensions by sizes: an index divides by constants only, so that places are counted.

(b, s, 8) -> (b*s, 8)    for b { for s { out[n, ...] = x[b, s, ...]; n = n + 1 } }
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from lamina.dialects.infos import surely_equal
from lamina.errors import UnsupportedError

if TYPE_CHECKING:
    from lamina.dialects.te.build import Tensor
    from lamina.dialects.te.indices import Index
    from lamina.dialects.te.ir_builder import Buffer, IRBuilder


def counted_reshape(x: Tensor, shape: Sequence[int], name: str) -> Tensor:
    """The elements of `x` in row-major order under a shape, of which one dimension is the product of several of `x`, or
    the other way round. Raises UnsupportedError for other shapes."""
    from lamina.dialects.te.ir_builder import extern

    front = _common(x.shape, shape)
    back = _common(x.shape[front:][::-1], shape[front:][::-1])
    merged, target = x.shape[front : x.ndim - back], shape[front : len(shape) - back]
    if min(len(merged), len(target)) != 1:
        raise UnsupportedError(f"a reshape of {x.shape} to {tuple(shape)}, which divides an index by sizes")
    merges = len(target) == 1
    loops = merged if merges else target

    def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
        (source,), (result,) = ins, outs
        count = ib.allocate("int64", (1,), f"{name}_count")

        def nest(extents: Sequence[int], stack: ExitStack, hint: str) -> list[Index]:
            return [stack.enter_context(ib.for_range(0, e, f"{hint}{n}")) for n, e in enumerate(extents)]

        with ExitStack() as outer:
            first = nest(x.shape[:front], outer, "o")
            count[0] = 0
            with ExitStack() as middle:
                places: list[Any] = nest(loops, middle, "m")
                with ExitStack() as inner:
                    last = nest(x.shape[x.ndim - back :], inner, "i")
                    counted = (*first, count[0], *last)
                    split = (*first, *places, *last)
                    result[counted if merges else split] = source[split if merges else counted]
                count[0] = count[0] + 1

    (made,) = extern([shape], [x], body, name, [x.dtype])
    return made


def numbers_at_the_end(a: Sequence[int], b: Sequence[int]) -> tuple[int, int]:
    """The first of the last extents of each that are numbers with one product: of (s, 2, 8) and (s, 16) 1 and 1."""
    found = m, n = len(a), len(b)
    of_a = of_b = 1
    while True:
        if of_a == of_b:
            found = m, n
        if n and type(b[n - 1]) is int and (of_b < of_a or b[n - 1] == 1):
            n -= 1
            of_b *= b[n]
        elif of_a <= of_b and m and type(a[m - 1]) is int:
            m -= 1
            of_a *= a[m]
        else:
            return found


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    """The number of first extents that are equal."""
    count = 0
    while count < min(len(a), len(b)) and surely_equal(a[count], b[count]):
        count += 1
    return count
