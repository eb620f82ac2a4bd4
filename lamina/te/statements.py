"""TVM's ir_builder for the statements of a te.extern or of a tensor intrinsic.

    def reversed_rows(ins, outs):
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, n, "i") as i:
            with ib.if_scope(i > 0):
                y[n - 1 - i] = te.exp(x[i]) * 2.0
        return ib.get()

Loop variables, elements and conditions are expressions like those of `te.compute`. A statement is built where it is
written, so an element is read when the statement that uses it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.index.linear import Linear
from lamina.dialects.te.build import Scalar
from lamina.dialects.te.indices import Cond, Index, Scope, current_scope
from lamina.dialects.tir.memory import LoadOp
from lamina.errors import UnsupportedError
from lamina.te.emit import Emitter, Value
from lamina.te.expr import Expr, IntImm, Not, Var, as_expr, fail

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
    """The state of the op under construction that its statements use."""

    builder: Any = None
    blocks: StatementBlocks | None = None
    variables: dict[Var, Linear] = {}
    """The sizes of the program, and the loops around."""


@contextmanager
def building_blocks(blocks: StatementBlocks) -> Generator[None]:
    """Each `create` starts statements of their own."""
    outer = _Current.blocks, _Current.variables
    _Current.blocks, _Current.variables = blocks, {}
    try:
        yield
    finally:
        _Current.blocks, _Current.variables = outer


@contextmanager
def building_statements(builder: Any, sizes: Mapping[Var, Linear]) -> Generator[None]:
    """`create` gives this builder."""
    outer = _Current.builder, _Current.blocks, _Current.variables
    _Current.builder, _Current.blocks, _Current.variables = builder, None, dict(sizes)
    try:
        yield
    finally:
        _Current.builder, _Current.blocks, _Current.variables = outer


class BufferLoad(Expr):
    """One element of a buffer."""

    def __init__(self, pointer: Pointer, indices: Sequence[Expr]) -> None:
        self.pointer = pointer
        self.indices = tuple(indices)
        self.dtype = pointer.dtype

    def children(self) -> Sequence[Expr]:
        return self.indices

    def text(self) -> str:
        return f"{self.pointer.name}[{', '.join(i.text() for i in self.indices)}]"


class _Statement(Emitter):
    """The values of one statement."""

    def __init__(self) -> None:
        super().__init__(_Current.variables, {}, {}, {}, {})
        body = current_scope().body
        assert body is not None
        self._body = body
        self._last = body.last_op

    def _build(self, x: Expr) -> Value:
        if isinstance(x, BufferLoad):
            return x.pointer.buffer[tuple(self.value(i) for i in x.indices)]
        return super()._build(x)

    def _is_safe(self, x: Scalar) -> bool:
        """Whether nothing is read: what the size of a buffer is says nothing about these statements."""
        stack: list[SSAValue] = [x.value]
        while stack:
            owner = stack.pop().owner
            if isinstance(owner, LoadOp):
                return False
            if isinstance(owner, Operation):
                stack.extend(owner.operands)
        return True

    def index(self, x: Any) -> Any:
        """An expression as an index or a value that can be one."""
        return self.value(as_expr(x))

    def finish(self) -> None:
        """Drop reads that a choice has replaced by reads under its condition."""
        scope = current_scope()
        op = self._body.last_op
        while op is not None and op is not self._last:
            before = op.prev_op
            if op.results and not op.regions and all(r.first_use is None for r in op.results):
                scope.built = {k: v for k, v in scope.built.items() if v.owner is not op}
                op.detach()
                op.erase()
            op = before


class Pointer:
    """A buffer, indexed by its dimensions; by one index where it is to be read row by row as a line."""

    def __init__(self, buffer: Any, shape: Sequence[Any], dtype: str, name: str) -> None:
        self.buffer = buffer
        self.shape = tuple(shape)
        self.dtype = dtype
        self.name = name

    def _place(self, index: Any) -> list[Expr]:
        items = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
        places = [as_expr(i) for i in items]
        rank = len(self.shape)
        if len(places) == 1 and rank > 1:
            left, found = places[0], list[Expr]()
            for extent in reversed(self.shape[1:]):
                if not isinstance(extent, (int, IntImm)):
                    raise fail(f"the buffer {self.name!r} has sizes that are not known; write its {rank} indices")
                found.append(as_expr(left % int(extent)))
                left = left // int(extent)
            return [left, *reversed(found)]
        if len(places) != rank:
            raise fail(f"the buffer {self.name!r} has rank {rank}, it is used at {len(places)} indices")
        return places

    def access_ptr(self, access_mask: Any, *_: Any, **__: Any) -> Any:
        """Refused: there are no addresses in these programs."""
        from lamina.te.buffers import no_address

        raise no_address(self.name)

    def __getitem__(self, index: Any) -> BufferLoad:
        return BufferLoad(self, self._place(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        statement = _Statement()
        element = statement.scalar(as_expr(value).astype(self.dtype))
        places = tuple(statement.index(i) for i in self._place(index))
        self.buffer[places] = element
        statement.finish()


class Builder:
    """Statements in the order in which they are written."""

    def __init__(self) -> None:
        self._blocks = _Current.blocks
        if self._blocks is None and _Current.builder is None:
            raise fail("an ir_builder works inside the function given to te.extern or te.decl_tensor_intrin")
        self._builder = _Current.builder if self._blocks is None else self._blocks.begin()
        self._asked: Expr | None = None
        """The condition of the last if_scope."""

    def emit(self, stmt: Any) -> None:
        """Refused: what is called by its name is written in another language, and nothing is known of it."""
        raise UnsupportedError(
            "ib.emit(call_extern(...)) is not bridged", hint="write the statements: ib.buffer_ptr(b)[i] = ..."
        )

    def buffer_ptr(self, buf: Any, shape: Any = None) -> Pointer:
        """An input or output of the extern, to be indexed."""
        return buf

    def allocate(self, dtype: str, shape: Any, name: str = "buf", scope: str = "global") -> Pointer:
        """A buffer of its own."""
        extents: list[Any] = list(cast("Sequence[Any]", shape)) if isinstance(shape, (list, tuple)) else [shape]
        plain = [_index(e, "an extent") for e in extents]
        return Pointer(self._builder.allocate(dtype, plain, name, scope or "global"), extents, dtype, name)

    @contextmanager
    def for_range(
        self, begin: Any, end: Any, name: str = "i", dtype: str = "int32", kind: str = "serial"
    ) -> Generator[Var]:
        """A loop; gives its variable."""
        variable = Var(name)
        with self._builder.for_range(
            _index(begin, "a bound"), _index(end, "a bound"), name, _KINDS.get(kind, kind)
        ) as i:
            _Current.variables[variable] = i.form
            yield variable

    @contextmanager
    def if_scope(self, cond: Any) -> Generator[None]:
        """Statements that run only where a condition on indices holds."""
        with self._builder.if_scope(self._condition(as_expr(cond))):
            yield
        self._asked = as_expr(cond)

    @contextmanager
    def else_scope(self) -> Generator[None]:
        """Statements that run only where the one condition of the `if_scope` before does not hold."""
        if self._asked is None:
            raise fail("else_scope comes after an if_scope")
        with self._builder.if_scope(self._condition(Not(self._asked))):
            yield
        self._asked = None

    def _condition(self, x: Expr) -> Cond:
        statement = _Statement()
        statement.scalar(x)
        found = statement.value(x)
        statement.finish()
        if not isinstance(found, Cond):
            raise fail(
                f"the condition {x} is no conjunction of comparisons of indices",
                hint="choose between values by te.select",
            )
        return found

    def likely(self, expr: Any) -> Any:
        return expr

    def get(self) -> Any:
        """The statements. Those of an extern stand in it already."""
        return self._blocks.end() if self._blocks is not None else None


def _index(x: Any, what: str) -> Index:
    """A size of the program, a loop variable or an expression of them."""
    found = _Statement().index(x)
    if not isinstance(found, Index):
        raise fail(f"{what} is an affine expression of sizes and loops, not {x}")
    return found


def create() -> Builder:
    """A builder of the statements of the te.extern under construction."""
    return Builder()
