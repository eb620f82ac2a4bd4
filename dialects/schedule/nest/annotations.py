"""Names of the attributes by which primitives tell passes something about loops, blocks and buffers.

Loops and blocks carry annotations as attributes; a pragma's name begins with `pragma_`. What concerns a buffer is an
attribute of its allocation:

    tir.for %i = 0 to 8 "C.i" attributes {pragma_unroll_explicit = 1 : i64, prefetch = [{offset = 1, tensor = "A"}]}
    %B = tir.alloc "B" scope "global" {storage_align = array<i64: 0, 32, 1>, double_buffer} : memref<8x32xf32>
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr

from lamina.dialects.tir.ops import ForOp

PRAGMA = "pragma_"
STORAGE_ALIGN = "storage_align"
DOUBLE_BUFFER = "double_buffer"
PREFETCH = "prefetch"
ALTERNATE = "alternate"
PADDED = "padded"
"""Of a buffer: nobody writes some of its elements."""


def pragma_of(loop: ForOp, key: str) -> int | None:
    """The value of a loop's pragma."""
    value = loop.attributes.get(PRAGMA + key)
    return value.value.data if isinstance(value, IntegerAttr) else None
