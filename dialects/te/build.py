"""Builds te IR from Python: TVM's tensor-expression spelling over our ops.

    y = te.compute((4, 8), lambda i, j: te.max(x[i, j], 0.0), "relu")

A `Tensor` wraps an SSA value of tensor type, a `Scalar` one of the element types, an `Index` is an affine form of
the dimensions. Everything is built at once into the block given to `building`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.dtypes import dtype_name, ir_type, scalar_type, tensor_type
from lamina.dialects.index.linear import Linear
from lamina.dialects.te.extents import tensor_extents
from lamina.dialects.te.indices import (
    Cond,
    Index,
    IterVar,
    building,
    current_scope,
    current_sizes,
    index_form,
    range_of_extent,
)
from lamina.dialects.te.ops import ComputeOp, YieldOp
from lamina.dialects.te.reducers import REGION_COMBINER
from lamina.dialects.te.scalars import Scalar, const, if_then_else, read_element, truth
from lamina.dialects.te.scan import ScanOp
from lamina.dialects.value_names import value_name

__all__ = [
    "Cond",
    "Index",
    "IterVar",
    "Reducer",
    "Reduction",
    "Scalar",
    "Tensor",
    "building",
    "comm_reducer",
    "compute",
    "compute_results",
    "const",
    "drop_dead_ops",
    "max",
    "min",
    "prod",
    "reduce_axis",
    "scan",
    "sum",
]

IndexLike: TypeAlias = Index | Scalar | int


class Tensor:
    """A tensor: an argument, or the result of a compute. An extent that is unknown is a number of the function's sizes,
    where these have names (`indices.NamedSizes`), else DYNAMIC_INDEX."""

    __slots__ = ("value", "shape", "dtype")

    def __init__(self, value: SSAValue, extents: Sequence[Linear] | None = None) -> None:
        type_ = value.type
        assert isinstance(type_, TensorType)
        self.value = value
        self.shape: tuple[int, ...] = type_.get_shape()
        if DYNAMIC_INDEX in self.shape and (sizes := current_sizes()) is not None:
            self.shape = tuple(sizes.number(e) for e in extents or tensor_extents(value))
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
class Reducer:
    """A way to combine terms of one or several values: both functions give one scalar for each value."""

    combine: Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]]
    """The combiner: a function of what has been accumulated, then one term."""
    identity: Callable[[Sequence[str]], Sequence[Scalar]]
    """The neutral values of the values' dtypes."""

    def __call__(
        self,
        value: Scalar | Sequence[Scalar],
        axis: IterVar | Sequence[IterVar],
        where: Cond | Scalar | None = None,
    ) -> Reduction:
        """The value of a compute: terms reduced over axes, those only for which `where` holds."""
        values = (value,) if isinstance(value, Scalar) else tuple(value)
        axes = (axis,) if isinstance(axis, IterVar) else tuple(axis)
        if where is not None:
            starts = self.identity([v.dtype for v in values])
            values = tuple(if_then_else(where, v, s) for v, s in zip(values, starts, strict=True))
        return Reduction(self, values, axes)

    def blocks(self, dtypes: Sequence[str]) -> list[Block]:
        """The combine and the identity block for values of these dtypes."""
        scope = current_scope()
        types = [scalar_type(ir_type(d)) for d in dtypes]
        combine, identity = Block(arg_types=[*types, *types]), Block()
        for n, arg in enumerate(combine.args):
            arg.name_hint = f"{'l' if n < len(types) else 'r'}{n % len(types)}"
        sides = [Scalar(a, d) for a, d in zip(combine.args, [*dtypes, *dtypes], strict=True)]
        with scope.inside(combine):
            found = self.combine(sides[: len(types)], sides[len(types) :])
            if [f.dtype for f in found] != list(dtypes):
                raise TypeError(f"the reducer combines {', '.join(dtypes)} to {', '.join(f.dtype for f in found)}")
            _yield(combine, found)
        with scope.inside(identity):
            _yield(identity, self.identity(dtypes))
        return [combine, identity]


def comm_reducer(fcombine: Callable[[Any, Any], Any], fidentity: Callable[..., Any]) -> Reducer:
    """A reducer of one value or of several, which must be associative and commutative.

    `fcombine` takes what has been accumulated, then one term; `fidentity` takes dtypes. Each gets and gives single
    scalars for a reducer of one value, tuples for one of several; a bare number takes the value's dtype.

        def fcombine(x, y):
            return select(x[1] >= y[1], x[0], y[0]), select(x[1] >= y[1], x[1], y[1])

        argmax = comm_reducer(fcombine, lambda t0, t1: (-1, float("-inf")))
        place, value = compute_results((m,), lambda i: argmax((cast(k, "int32"), x[i, k]), k), "T")
    """

    def side(values: Sequence[Scalar]) -> Any:
        return values[0] if len(values) == 1 else tuple(values)

    def combine(x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
        return _of_dtypes(fcombine(side(x), side(y)), [v.dtype for v in x])

    def identity(dtypes: Sequence[str]) -> list[Scalar]:
        return _of_dtypes(fidentity(*dtypes), dtypes)

    return Reducer(combine, identity)


def _of_dtypes(values: Any, dtypes: Sequence[str]) -> list[Scalar]:
    found = _as_tuple(values)
    if len(found) != len(dtypes):
        raise TypeError(f"a reducer of {len(dtypes)} values gives {len(found)}")
    return [const(v, d) for v, d in zip(found, dtypes, strict=True)]


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(cast("Sequence[Any]", value)) if isinstance(value, (tuple, list)) else (value,)


def _yield(block: Block, values: Sequence[Scalar]) -> None:
    block.add_op(YieldOp.create(operands=[v.value for v in values]))
    drop_dead_ops(block)


@dataclass(frozen=True)
class Reduction:
    """The value of a te.compute body that is reduced over axes; several with a `Reducer`."""

    combiner: str | Reducer
    value: Scalar | tuple[Scalar, ...]
    axes: tuple[IterVar, ...]


def reduce_axis(extent: int | Index | tuple[int, int | Index], name: str = "k") -> IterVar:
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
    shape: Sequence[int | Index], fcompute: Callable[..., Any], name: str = "compute", dtype: str | None = None
) -> Tensor:
    """A tensor by its index equation. The dimensions are named after the parameters of `fcompute`.

    An extent may be an `Index` of the function's sizes. `dtype` is needed only when the equation is a bare number.
    """
    (only,) = compute_results(shape, fcompute, name, dtype)
    return only


def compute_results(
    shape: Sequence[int | Index],
    fcompute: Callable[..., Any],
    name: str = "compute",
    dtype: str | None = None,
    axis_names: Sequence[str] | None = None,
) -> list[Tensor]:
    """The tensors of a compute that may have several results: `fcompute` gives one value, or a tuple of them.

    `axis_names` names the dimensions; without it the parameters of `fcompute` do.
    """
    scope = current_scope()
    extents = [index_form(e) for e in shape]
    names = axis_names or _parameter_names(fcompute, len(extents))
    block = Block(arg_types=[IndexType()] * len(extents))
    combiner: str | Reducer | None = None
    axes: tuple[IterVar, ...] = ()
    with scope.inside(block):
        for arg, extent, hint in zip(block.args, extents, names, strict=True):
            arg.name_hint = value_name(hint) if hint.strip("_") else f"i{block.args.index(arg)}"
            scope.ranges[arg] = range_of_extent(extent)
        value = fcompute(*(Index(Linear.dim(a)) for a in block.args))
        if isinstance(value, Reduction):
            combiner, axes, value = value.combiner, value.axes, value.value
        results = [_element(v, dtype) for v in _as_tuple(value)]
        for axis in axes:
            arg = block.insert_arg(IndexType(), len(block.args))
            arg.name_hint = value_name(axis.name)
            placeholder = scope.axes.pop(axis, None)
            if placeholder is not None:
                placeholder.replace_all_uses_with(arg)
        if scope.axes:
            raise TypeError(f"reduction axis {next(iter(scope.axes)).name!r} is used but not reduced over")
        _yield(block, results)
    reducer = combiner.blocks([r.dtype for r in results]) if isinstance(combiner, Reducer) else []
    reduced = [index_form(a.extent) for a in axes]
    op = ComputeOp.make(
        scope.stage_name(name),
        [tensor_type(tuple(map(_known, extents)), r.dtype) for r in results],
        [_known(e) for e in reduced],
        REGION_COMBINER if isinstance(combiner, Reducer) else combiner,
        block,
        [*extents, *reduced],
        reducer,
    )
    scope.function.add_op(op)
    for n, tensor in enumerate(op.tensors):
        hint = op.stage.data if len(results) == 1 else f"{op.stage.data}_v{n}"
        tensor.name_hint = value_name(hint)
    return [Tensor(t) for t in op.tensors]


def scan(
    time: int | Index,
    inits: Sequence[Tensor],
    update: Callable[..., Tensor | Sequence[Tensor]],
    name: str = "scan",
    axis_name: str = "t",
) -> list[Tensor]:
    """Tensors along a time axis, `time` long and starting with the initial tensors (each of shape (first, ...)).

    `update(t, *states)` builds the computes of one later time and gives the slice of each state: tensors without the
    time dimension. It may read a state at any time before t.

        (s,) = scan(m, [compute((1, n), lambda _, i: x[0, i])],
                    lambda t, s: compute((n,), lambda i: s[t - 1, i] + x[t, i]))
    """
    scope = current_scope()
    extent = index_form(time)
    first = inits[0].shape[0]
    extents = [[extent, *map(index_form, i.shape[1:])] for i in inits]
    types = [tensor_type(tuple(map(_known, e)), i.dtype) for e, i in zip(extents, inits, strict=True)]
    body = Block(arg_types=[IndexType(), *types])
    stage = scope.stage_name(name)
    hints = [axis_name, *([f"{stage}_state"] if len(inits) == 1 else [f"{stage}_state{n}" for n in range(len(inits))])]
    for arg, hint in zip(body.args, hints, strict=True):
        arg.name_hint = value_name(hint)
    t = body.args[0]
    outer, scope.function = scope.function, body
    scope.around[t] = range_of_extent(extent, first)
    try:
        found = update(Index(Linear.dim(t)), *map(Tensor, body.args[1:], extents))
    finally:
        scope.function = outer
        del scope.around[t]
    slices = [found] if isinstance(found, Tensor) else list(found)
    body.add_op(YieldOp.create(operands=[s.value for s in slices]))
    op = ScanOp.make(stage, extent, [i.value for i in inits], types, body)
    outer.add_op(op)
    for n, tensor in enumerate(op.tensors):
        hint = stage if len(inits) == 1 else f"{stage}_v{n}"
        tensor.name_hint = value_name(hint)
    op.verify_()
    return [Tensor(v) for v in op.tensors]


def _known(extent: Linear) -> int:
    return extent.const if extent.is_constant else DYNAMIC_INDEX


def _element(value: Any, dtype: str | None) -> Scalar:
    if isinstance(value, Cond):
        return truth(value)
    if isinstance(value, Scalar):
        return value
    if dtype is None:
        raise TypeError("a constant tensor needs a dtype")
    return const(value, dtype)


def drop_dead_ops(block: Block) -> None:
    """Remove pure ops whose results nobody uses."""
    for op in reversed(list(block.ops)):
        if op.results and not any_use(op):
            op.detach()
            op.erase()


def any_use(op: Operation) -> bool:
    """Whether any result of an op has a use."""
    for r in op.results:
        if r.first_use is not None:
            return True
    return False


def _parameter_names(fcompute: Callable[..., Any], rank: int) -> list[str]:
    parameters = list(inspect.signature(fcompute).parameters.values())
    if len(parameters) == rank and not [p for p in parameters if p.kind is p.VAR_POSITIONAL]:
        return [p.name for p in parameters]
    return [f"i{n}" for n in range(rank)]
