"""TVM's ir_builder for the statements of a te.extern.

    def reversed_rows(ins, outs):
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 8, "i") as i:
            y[7 - i] = x[i] * 2.0
        return ib.get()

The statements are built while the program is lowered, straight into the te.extern: indices and values are those of
the te builder, and sizes of the program are converted where they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from xdsl.ir import Block

from lamina.dialects.linear import Linear
from lamina.dialects.te.build import Index
from lamina.dialects.te.indices import Scope
from lamina.te.emit import affine
from lamina.te.expr import Expr, Var, fail

_KINDS = {"serial": "serial", "parallel": "parallel", "vectorize": "vectorized", "unroll": "unrolled"}


class StatementBlocks:
    """Starts statements of their own at each `create` and ends them at `get`: those of a tensor intrinsic."""

    def __init__(self, scope: Scope, start: Callable[[], tuple[Block, Any]]) -> None:
        self._scope = scope
        self._start = start
        self._open: list[tuple[Block, Any]] = []

    def begin(self) -> Any:
        block, builder = self._start()
        inside = self._scope.inside(block)
        inside.__enter__()
        self._open.append((block, inside))
        return builder

    def end(self) -> Block:
        block, inside = self._open.pop()
        inside.__exit__(None, None, None)
        return block


class _Current:
    """What the op under construction gives its statements."""

    builder: Any = None
    blocks: StatementBlocks | None = None
    sizes: Mapping[Var, Linear] = {}


@contextmanager
def building_blocks(blocks: StatementBlocks) -> Generator[None]:
    """Each `create` starts statements of their own."""
    outer, _Current.blocks = _Current.blocks, blocks
    try:
        yield
    finally:
        _Current.blocks = outer


@contextmanager
def building_statements(builder: Any, sizes: Mapping[Var, Linear]) -> Generator[None]:
    """`create` gives this builder."""
    outer = _Current.builder, _Current.sizes
    _Current.builder, _Current.sizes = builder, sizes
    try:
        yield
    finally:
        _Current.builder, _Current.sizes = outer


def _plain(value: Any) -> Any:
    """A size of the program, or an expression of sizes, as an index."""
    if isinstance(value, Expr) and not isinstance(value, int):
        return Index(affine(value, _Current.sizes))
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


class Pointer:
    """A buffer, indexed by its dimensions; by one index where it is to be read row by row as a line."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.shape: tuple[int, ...] = buffer.shape
        self.dtype: str = buffer.dtype

    def _place(self, index: Any) -> tuple[Any, ...]:
        items = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
        places = tuple(_plain(i) for i in items)
        rank = len(self.shape)
        if len(places) == 1 and rank > 1 and -1 not in self.shape:
            left, found = places[0], list[Any]()
            for extent in reversed(self.shape[1:]):
                found.append(left % extent)
                left = left // extent
            return (left, *reversed(found))
        return places

    def __getitem__(self, index: Any) -> Any:
        return self.buffer[self._place(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.buffer[self._place(index)] = getattr(value, "value", value) if isinstance(value, Expr) else value


class Builder:
    """Statements in the order in which they are written."""

    def __init__(self) -> None:
        self._blocks = _Current.blocks
        if self._blocks is None and _Current.builder is None:
            raise fail("an ir_builder works inside the function given to te.extern or te.decl_tensor_intrin")
        self._builder = _Current.builder if self._blocks is None else self._blocks.begin()

    def buffer_ptr(self, buf: Any, shape: Any = None) -> Pointer:
        """An input or output of the extern, to be indexed."""
        return Pointer(buf)

    def allocate(self, dtype: str, shape: Any, name: str = "buf", scope: str = "global") -> Pointer:
        """A buffer of its own."""
        extents: list[Any] = list(cast("Sequence[Any]", shape)) if isinstance(shape, (list, tuple)) else [shape]
        plain = [_plain(e) for e in extents]
        return Pointer(self._builder.allocate(dtype, plain, name, scope or "global"))

    @contextmanager
    def for_range(
        self, begin: Any, end: Any, name: str = "i", dtype: str = "int32", kind: str = "serial"
    ) -> Generator[Index]:
        """A loop; gives its variable."""
        with self._builder.for_range(_plain(begin), _plain(end), name, _KINDS.get(kind, kind)) as i:
            yield i

    @contextmanager
    def if_scope(self, cond: Any) -> Generator[None]:
        """Statements that run only where a condition on indices holds."""
        with self._builder.if_scope(cond):
            yield

    def likely(self, expr: Any) -> Any:
        return expr

    def get(self) -> Any:
        """The statements. Those of an extern stand in it already."""
        return self._blocks.end() if self._blocks is not None else None


def create() -> Builder:
    """A builder of the statements of the te.extern under construction."""
    return Builder()
