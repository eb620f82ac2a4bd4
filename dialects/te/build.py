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

from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.dtypes import dtype_name, ir_type, scalar_type, tensor_type
from lamina.dialects.linear import Linear
from lamina.dialects.te.indices import Cond, Index, IterVar, building, current_scope, dimension_range, index_form
from lamina.dialects.te.ops import ComputeOp, YieldOp
from lamina.dialects.te.reducers import REGION_COMBINER
from lamina.dialects.te.scalars import Scalar, const, if_then_else, read_element

__all__ = [
    "CommReducer",
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
    "compute_tuple",
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
class CommReducer:
    """How terms are combined. Called on a term (or a tuple of them) and axes it gives a compute's value.

    `fcombine` takes what has been accumulated, then one term; `fidentity` takes dtypes. Each gets and gives single
    scalars for a reducer of one value, tuples for one of several.
    """

    fcombine: Callable[[Any, Any], Any]
    fidentity: Callable[..., Any]
    name: str = "reduce"

    def __call__(
        self,
        value: Scalar | Sequence[Scalar],
        axis: IterVar | Sequence[IterVar],
        where: Cond | Scalar | None = None,
    ) -> Reduction:
        values = (value,) if isinstance(value, Scalar) else tuple(value)
        axes = (axis,) if isinstance(axis, IterVar) else tuple(axis)
        if where is not None:
            starts = self.identity([v.dtype for v in values])
            values = tuple(if_then_else(where, v, s) for v, s in zip(values, starts, strict=True))
        return Reduction(REGION_COMBINER, values, axes, self)

    def identity(self, dtypes: Sequence[str]) -> list[Scalar]:
        """The neutral values of the dtypes, built in the current body."""
        return [const(v, d) for v, d in zip(_as_tuple(self.fidentity(*dtypes)), dtypes, strict=True)]

    def blocks(self, dtypes: Sequence[str]) -> tuple[Block, Block]:
        """The combine and the identity block for terms of these dtypes."""
        scope = current_scope()
        types = [scalar_type(ir_type(d)) for d in dtypes]
        combine, identity = Block(arg_types=[*types, *types]), Block()
        sides: list[Any] = []
        for side, offset in (("l", 0), ("r", len(types))):
            terms = [Scalar(a, d) for a, d in zip(combine.args[offset:], dtypes, strict=False)]
            for n, t in enumerate(terms):
                t.value.name_hint = f"{side}{n}"
            sides.append(terms[0] if len(terms) == 1 else tuple(terms))
        with scope.inside(combine):
            found = _as_tuple(self.fcombine(*sides))
            if len(found) != len(types):
                raise TypeError(f"{self.name} combines {len(types)} values to {len(found)}")
            _yield(combine, [const(v, d) for v, d in zip(found, dtypes, strict=True)])
        with scope.inside(identity):
            _yield(identity, self.identity(dtypes))
        return combine, identity


def comm_reducer(
    fcombine: Callable[[Any, Any], Any], fidentity: Callable[..., Any], name: str = "reduce"
) -> CommReducer:
    """A reducer of one value or of several, which must be associative and commutative.

    def fcombine(x, y):
        return select(x[1] >= y[1], x[0], y[0]), select(x[1] >= y[1], x[1], y[1])

    argmax = comm_reducer(fcombine, lambda t0, t1: (const(-1, t0), const(float("-inf"), t1)), "argmax")
    place, value = compute_tuple((m,), lambda i: argmax((cast(k, "int32"), x[i, k]), k), "T")
    """
    return CommReducer(fcombine, fidentity, name)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(cast("Sequence[Any]", value)) if isinstance(value, (tuple, list)) else (value,)


def _yield(block: Block, values: Sequence[Scalar]) -> None:
    block.add_op(YieldOp.create(operands=[v.value for v in values]))
    drop_dead_ops(block)


@dataclass(frozen=True)
class Reducer:
    """A way to combine terms of one or several values: both functions give one scalar for each value."""

    combine: Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]]
    identity: Callable[[], Sequence[Scalar]]


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
        return Reduction(combiner, (value,), axes)

    reduce.__doc__ = f"The {combiner} over reduction axes: the outermost operation of a compute."
    return reduce


@@def compute(
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
    for arg, hint in zip(block.args, names, strict=True):
        arg.name_hint = hint
    # An empty tensor has no elements; a bound keeps the arithmetic sound.
    ranges: dict[Atom, Range] = {
        a: (0, max(e.const - 1, 0) if e.is_constant else MAX_EXTENT - 1)
        for a, e in zip(block.args, extents, strict=True)
    }
    reducer: list[Block] = []
    with _inside(scope, block, ranges):
        value = fcompute(*(Index(Linear.dim(a)) for a in block.args))
        combiner: str | Reducer | None = None
        axes: tuple[IterVar, ...] = ()
        if isinstance(value, Reduction):
            combiner, axes, value = value.combiner, value.axes, value.value
        results = [_element(v, dtype) for v in (cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,))]
        for axis in axes:
            arg = block.insert_arg(IndexType(), len(block.args))
            arg.name_hint = axis.name
            placeholder = scope.axes.pop(axis, None)
            if placeholder is not None:
                placeholder.replace_all_uses_with(arg)
        if scope.axes:
            raise TypeError(f"reduction axis {next(iter(scope.axes)).name!r} is used but not reduced over")
        block.add_op(YieldOp.create(operands=[r.value for r in results]))
    if isinstance(combiner, Reducer):
        reducer = _reducer_blocks(scope, combiner, [r.dtype for r in results])
        combiner = REGION_COMBINER
    drop_dead_ops(block)
    reduced = [index_form(a.extent) for a in axes]
    all_extents = [*extents, *reduced]
    op = ComputeOp.make(
        scope.stage_name(name),
        [tensor_type(tuple(map(_known, extents)), r.dtype) for r in results],
        [_known(e) for e in reduced],
        combiner,
        block,
        None if all(e.is_constant for e in all_extents) else all_extents,
        reducer,
    )
    scope.function.add_op(op)
    for n, tensor in enumerate(op.tensors):
        hint = op.stage.data if len(results) == 1 else f"{op.stage.data}_v{n}"
        tensor.name_hint = hint if hint.isidentifier() else None
    return [Tensor(t) for t in op.tensors]


def _known(extent: Linear) -> int:
    return extent.const if extent.is_constant else DYNAMIC_INDEX


def _element(value: Any, dtype: str | None) -> Scalar:
    if isinstance(value, Cond):
        return value.scalar()
    if isinstance(value, Scalar):
        return value
    if dtype is None:
        raise TypeError("a constant tensor needs a dtype")
    return const(value, dtype)


@contextmanager
def _inside(scope: Scope, block: Block, ranges: dict[Atom, Range]) -> Generator[None]:
    """Scalars go into a block, with the bounds of its dimensions and of the function's sizes."""
    outer = scope.body, scope.ranges, scope.axes, scope.built
    sizes: dict[Atom, Range] = {a: (0, MAX_EXTENT) for a in size_arguments(scope.function.args)}
    scope.body, scope.ranges, scope.axes, scope.built = block, sizes | ranges, {}, {}
    try:
        yield
    finally:
        scope.body, scope.ranges, scope.axes, scope.built = outer


def _reducer_blocks(scope: Scope, reducer: Reducer, dtypes: Sequence[str]) -> list[Block]:
    """The combine and the identity block."""
    types = [scalar_type(ir_type(d)) for d in dtypes]
    combine, identity = Block(arg_types=types * 2), Block()
    sides = [Scalar(a, d) for a, d in zip(combine.args, [*dtypes, *dtypes], strict=True)]
    for n, arg in enumerate(combine.args):
        arg.name_hint = f"{'acc' if n < len(types) else 'term'}{n % len(types)}"
    with _inside(scope, combine, {}):
        combine_results = reducer.combine(sides[: len(types)], sides[len(types) :])
    with _inside(scope, identity, {}):
        identity_results = reducer.identity()
    for block, results in ((combine, combine_results), (identity, identity_results)):
        block.add_op(YieldOp.create(operands=[r.value for r in results]))
        drop_dead_ops(block)
    return [combine, identity]


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
