"""Builds the tir of a te.extern from Python, statement by statement: TVM's ir_builder.

    def body(ib, ins, outs):
        x, y = ins[0], outs[0]
        with ib.for_range(0, 8, "i") as i:
            y[7 - i] = x[i] * 2.0

    (y,) = extern([(8,)], [x], body, "reverse", ["float32"])

Indices are `Index`, values `Scalar`, as in `te.compute`; what is read stands in the order in which it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.dtypes import dtype_name, ir_type, tensor_type
from lamina.dialects.index.linear import Linear
from lamina.dialects.infos import is_symbolic
from lamina.dialects.te.build import Tensor
from lamina.dialects.te.extern import ExternOp, buffer_of
from lamina.dialects.te.indices import Cond, Index, current_scope, current_sizes, index_form, range_of_extent
from lamina.dialects.te.ops import CheckOp, ConditionOp, IndexOp
from lamina.dialects.te.scalars import Scalar, const, truth
from lamina.dialects.tir import ops as tir
from lamina.dialects.tir.checks import CheckOp as TirCheckOp
from lamina.dialects.tir.memory import shape_with, type_of
from lamina.dialects.value_names import value_name
from lamina.errors import InputError, UnsupportedError


class Buffer:
    """A buffer inside an extern: `b[i, j]` reads an element, `b[i, j] = x` writes one."""

    def __init__(self, value: SSAValue, shape: Sequence[Any] | None = None) -> None:
        """`shape` gives the extents where some depend on sizes."""
        type_ = type_of(value)
        self.value = value
        self.shape: tuple[int, ...] = type_.get_shape() if shape is None else tuple(shape)
        self.dtype = dtype_name(type_.element_type)

    def __getitem__(self, indices: Any) -> Scalar:
        load = tir.LoadOp.make(self.value, self._forms(indices))
        _append(load)
        return Scalar(load.result, self.dtype)

    def __setitem__(self, indices: Any, value: Any) -> None:
        forms = self._forms(indices)
        element = truth(value) if isinstance(value, Cond) else const(value, self.dtype)
        _append(tir.StoreOp.make(element.value, self.value, forms))

    def _forms(self, indices: Any) -> list[Linear]:
        items: tuple[Any, ...] = indices if isinstance(indices, tuple) else (indices,)  # pyright: ignore[reportUnknownVariableType]
        if len(items) != len(self.shape):
            raise TypeError(f"{len(items)} indices for rank {len(self.shape)}")
        return [index_form(i) for i in items]


def _append(op: Operation) -> None:
    body = current_scope().body
    if body is None:
        raise RuntimeError("statements are built inside te.extern")
    body.add_op(op)


class IRBuilder:
    """Appends statements to the body of an extern under construction."""

    @contextmanager
    def for_range(
        self, begin: int | Index | Scalar, end: int | Index | Scalar, name: str = "i", kind: tir.LoopKind = "serial"
    ) -> Generator[Index]:
        """A loop from `begin` to `end` - 1, which may be integers read from memory; gives its variable."""
        start = index_form(begin)
        extent = index_form(end) - start
        loop = tir.ForOp.upto([extent], name, hint=value_name(name))
        if kind not in tir.KINDS or kind == "thread":
            raise InputError(f"for_range: no loop of kind {kind!r}; it is one of {', '.join(tir.KINDS[:-1])}")
        loop.properties["kind"] = StringAttr(kind)
        _append(loop)
        scope = current_scope()
        with self._inside(loop.body.block):
            scope.ranges[loop.var] = range_of_extent(extent)
            yield Index(Linear.dim(loop.var) + start)

    @contextmanager
    def if_scope(self, condition: Cond) -> Generator[None]:
        """Statements that run only where a condition on indices holds. Choose between values by `select`."""
        if not isinstance(condition, Cond):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError("if_scope: the condition is on indices; choose between values by select")
        decided = condition.decided()
        if decided is True:
            yield
            return
        conditions = condition.conditions if decided is False else decided.conditions
        op = tir.IfOp.make(list(conditions), Block())
        _append(op)
        with self._inside(op.body.block):
            yield

    def allocate(self, dtype: str, shape: Sequence[int | Index], name: str = "buf", scope: str = "global") -> Buffer:
        """A buffer that lives in the enclosing block."""
        if any(is_symbolic(e) for e in shape):
            raise UnsupportedError(f"a buffer of {name} in loops, {list(shape)}, is as large as sizes say")
        extents = [index_form(e) for e in shape]
        type_ = tir.buffer_type(shape_with(extents), ir_type(dtype))
        alloc = tir.AllocOp.make(name, type_, scope, extents)
        _append(alloc)
        return Buffer(alloc.result, shape if current_sizes() is not None else None)

    def call_packed(self, name: str, *arguments: Any) -> None:
        """Raises InputError: a kernel is machine code, which calls no function of the host."""
        raise InputError(f"extern: {name!r} cannot be called from a compiled kernel; write its statements as tir")

    @contextmanager
    def _inside(self, block: Block) -> Generator[None]:
        """Statements go into an inner block, which sees the values around it, and none of its own outlive it."""
        scope = current_scope()
        outer = scope.body, scope.ranges, scope.built
        scope.body, scope.ranges, scope.built = block, dict(scope.ranges), dict(scope.built)
        try:
            yield
        finally:
            scope.body, scope.ranges, scope.built = outer


def extern(
    shapes: Sequence[Sequence[int | Index]],
    inputs: Sequence[Tensor],
    fcompute: Callable[[IRBuilder, list[Buffer], list[Buffer]], None],
    name: str = "extern",
    dtypes: Sequence[str] | None = None,
) -> list[Tensor]:
    """The tensors that `fcompute(ib, ins, outs)` writes into the buffers `outs`, one of each shape and dtype.

    Without dtypes they are those of the first input. Raises VerifyException where an input is written.
    """
    scope = current_scope()
    names = list(dtypes) if dtypes is not None else [inputs[0].dtype] * len(shapes)
    extents = [[index_form(e) for e in shape] for shape in shapes]
    types = [tensor_type(tuple(shape_with(row)), dtype) for row, dtype in zip(extents, names, strict=True)]
    block = Block(arg_types=[buffer_of(t) for t in (*(i.value.type for i in inputs), *types)])
    stage = scope.stage_name(name)
    for n, arg in enumerate(block.args):
        source = inputs[n].value.name_hint if n < len(inputs) else f"out{n - len(inputs)}"
        arg.name_hint = f"{source or f'in{n}'}_buffer" if n < len(inputs) else source
    known = [*(i.shape for i in inputs), *shapes] if scope.sizes is not None else [None] * len(block.args)
    buffers = [Buffer(a, s) for a, s in zip(block.args, known, strict=True)]
    with scope.inside(block):
        fcompute(IRBuilder(), buffers[: len(inputs)], buffers[len(inputs) :])
    _to_tir(block)
    op = ExternOp.make(stage, [i.value for i in inputs], types, block, extents)
    scope.function.add_op(op)
    op.verify_()
    for n, tensor in enumerate(op.tensors):
        hint = stage if len(types) == 1 else f"{stage}_v{n}"
        tensor.name_hint = value_name(hint)
    return [Tensor(t) for t in op.tensors]


def _to_tir(block: Block) -> None:
    """Scalars are built with te's ops on indices; in an extern their tir counterparts stand."""
    counterpart: dict[type[Operation], type[Operation]] = {
        IndexOp: tir.IndexOp,
        ConditionOp: tir.ConditionOp,
        CheckOp: TirCheckOp,
    }
    for op in list(block.walk()):
        wanted = counterpart.get(type(op))
        if wanted is not None:
            new = wanted.create(
                operands=list(op.operands), properties=dict(op.properties), result_types=list(op.result_types)
            )
            assert op.parent is not None
            op.parent.insert_op_before(new, op)
            op.results[0].replace_all_uses_with(new.results[0])
            op.detach()
            op.erase()


__all__ = ["Buffer", "IRBuilder", "extern"]
