"""Builds te IR from Python: TVM's tensor-expression spelling over our ops.

    y = te.compute((4, 8), lambda i, j: te.max(x[i, j], 0.0), "relu")

A `Tensor` wraps an SSA value of tensor type, a `Scalar` one of the element types, an `Index` is an affine form of
the dimensions. Everything is built at once into the block given to `building`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.dtypes import dtype_name, tensor_type
from lamina.dialects.linear import Linear
from lamina.dialects.te.indices import Cond, Index, IterVar, building, current_scope, index_form
from lamina.dialects.te.ops import ComputeOp, YieldOp
from lamina.dialects.te.scalars import Scalar, const, read_element

__all__ = [
    "Cond",
    "Index",
    "IterVar",
    "Reduction",
    "Scalar",
    "Tensor",
    "building",
    "compute",
    "const",
    "drop_dead_ops",
    "max",
    "min",
    "prod",
    "reduce_axis",
    "sum",
]

IndexLike: TypeAlias = Index | Scalar | int


class Tensor:
    """A tensor of known shape: an argument, or the result of a compute."""

    __slots__ = ("value", "shape", "dtype")

    def __init__(self, value: SSAValue) -> None:
        type_ = value.type
        assert isinstance(type_, TensorType)
        self.value = value
        self.shape: tuple[int, ...] = type_.get_shape()
        self.dtype = dtype_name(type_.element_type)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, indices: IndexLike | IterVar | tuple[Any, ...]) -> Scalar:
        items: tuple[Any, ...] = indices if isinstance(indices, tuple) else (indices,)
        if len(items) != len(self.shape):
            raise TypeError(f"{len(items)} indices for rank {len(self.shape)}")
        return Scalar(read_element(self.value, [index_form(i) for i in items], []), self.dtype)


@dataclass(frozen=True)
class Reduction:
    """The value of a te.compute body that is reduced over axes."""

    combiner: str
    value: Scalar
    axes: tuple[IterVar, ...]


def reduce_axis(extent: int | tuple[int, int], name: str = "k") -> IterVar:
    """An axis to reduce over: its extent, or (0, extent) as TVM spells it."""
    if isinstance(extent, tuple):
        if extent[0] != 0:
            raise ValueError("reduction axes start at 0")
        extent = extent[1]
    return IterVar(extent, name)


def _reducer(combiner: str) -> Callable[..., Reduction]:
    def reduce(value: Scalar, axis: IterVar | Sequence[IterVar]) -> Reduction:
        axes = (axis,) if isinstance(axis, IterVar) else tuple(axis)
        return Reduction(combiner, value, axes)

    reduce.__doc__ = f"The {combiner} over reduction axes: the outermost operation of a compute."
    return reduce


sum = _reducer("sum")  # noqa: A001
prod = _reducer("prod")
max = _reducer("max")  # noqa: A001
min = _reducer("min")  # noqa: A001


def compute(
    shape: Sequence[int], fcompute: Callable[..., Any], name: str = "compute", dtype: str | None = None
) -> Tensor:
    """A tensor by its index equation. The dimensions are named after the parameters of `fcompute`.

    `dtype` is needed only when the equation is a bare Python number.
    """
    scope = current_scope()
    extents = [int(e) for e in shape]
    block = Block(arg_types=[IndexType()] * len(extents))
    names = _parameter_names(fcompute, len(extents))
    outer = scope.body, scope.ranges, scope.axes, scope.built
    scope.body, scope.ranges, scope.axes, scope.built = block, {}, {}, {}
    try:
        for arg, extent, hint in zip(block.args, extents, names, strict=True):
            arg.name_hint = hint
            # An empty tensor has no elements; a bound keeps the arithmetic sound.
            scope.ranges[arg] = (0, extent - 1 if extent > 0 else 0)
        value = fcompute(*(Index(Linear.dim(a)) for a in block.args))
        combiner, axes = None, ()
        if isinstance(value, Reduction):
            combiner, axes, value = value.combiner, value.axes, value.value
        if isinstance(value, Cond):
            value = value.scalar()
        elif not isinstance(value, Scalar):
            if dtype is None:
                raise TypeError("a constant tensor needs a dtype")
            value = const(value, dtype)
        for axis in axes:
            arg = block.insert_arg(IndexType(), len(block.args))
            arg.name_hint = axis.name
            placeholder = scope.axes.pop(axis, None)
            if placeholder is not None:
                placeholder.replace_all_uses_with(arg)
        if scope.axes:
            raise TypeError(f"reduction axis {next(iter(scope.axes)).name!r} is used but not reduced over")
        block.add_op(YieldOp.create(operands=[value.value]))
    finally:
        scope.body, scope.ranges, scope.axes, scope.built = outer
    drop_dead_ops(block)
    op = ComputeOp.make(
        scope.stage_name(name),
        tensor_type(tuple(extents), value.dtype),
        [a.extent for a in axes],
        combiner,
        block,
    )
    scope.function.add_op(op)
    op.result.name_hint = op.stage.data if op.stage.data.isidentifier() else None
    return Tensor(op.result)


def drop_dead_ops(block: Block) -> None:
    """Remove pure ops whose results nobody uses."""
    for op in reversed(list(block.ops)):
        if op.results and not any_use(op):
            op.detach()
            op.erase()


def any_use(op: Operation) -> bool:
    for r in op.results:
        if r.first_use is not None:
            return True
    return False


def _parameter_names(fcompute: Callable[..., Any], rank: int) -> list[str]:
    parameters = list(inspect.signature(fcompute).parameters.values())
    if len(parameters) == rank and not [p for p in parameters if p.kind is p.VAR_POSITIONAL]:
        return [p.name for p in parameters]
    return [f"i{n}" for n in range(rank)]
