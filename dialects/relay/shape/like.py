"""Ops that give a tensor the shape or the dtype of another: broadcast_to_like, reshape_like, slice_like, cast_like,
and the sums that take a broadcast back: collapse_sum_like, collapse_sum_to. Of the other tensor only the type counts.
"""

from __future__ import annotations

from math import prod
from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.reduce.reductions import narrowed, sum_dtype, wide_sum
from lamina.dialects.relay.shape.fill import checked_shape


def _extends(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether broadcasting brings a tensor of the shape to the target."""
    try:
        return broadcast_shapes(shape, target) == target
    except TypeMismatch:
        return False


@irdl_op_definition
class BroadcastToLikeOp(RelayOp, fusion_kind=OpPattern.BROADCAST):
    """`data` broadcast to the shape of `broadcast_type`."""

    name = "relay.broadcast_to_like"

    data = operand_def(TensorType)
    broadcast_type = operand_def(TensorType)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, broadcast_type: TensorInfo) -> TensorInfo:
        if not _extends(data.shape, broadcast_type.shape):
            raise TypeMismatch(f"shape {data.shape} does not broadcast to {broadcast_type.shape}")
        return TensorInfo(broadcast_type.shape, data.dtype)

    @staticmethod
    def te_compute(data: Tensor, broadcast_type: Tensor) -> Tensor:
        return te.compute(broadcast_type.shape, lambda *i: data[te.broadcast_index(data, i)], "broadcast_to_like")

    @staticmethod
    def np_ref(data: Array, broadcast_type: Array) -> Array:
        return np.copy(np.broadcast_to(data, broadcast_type.shape))

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((5,), (3, 5)),
            sample((3, 1), (3, 5)),
            sample((), (2, 3)),
            sample((2, 1, 1), (4, 2, 3, 5)),
            sample((1,), (1,)),
            sample((3, 5), ((3, 5), "int32")),
            sample(((3, 1), "int64"), ((3, 7), "bool")),
            sample(((1,), "bool"), (0, 3)),
            sample((3,), (4,), error="shape (3,) does not broadcast to (4,)"),
            sample((3, 1), (3,), error="shape (3, 1) does not broadcast to (3,)"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [collapsed(grads[0], operands[0]), None]


@irdl_op_definition
class ReshapeLikeOp(Injective):
    """`data` with its dimensions lhs_begin .. lhs_end - 1 replaced by those rhs_begin .. rhs_end - 1 of `shape_like`:
    by default all of either. Negative places count from the end."""

    name = "relay.reshape_like"

    data = operand_def(TensorType)
    shape_like = operand_def(TensorType)
    lhs_begin = int_prop(0)
    lhs_end = opt_prop_def(IntegerAttr.constr(i64))
    rhs_begin = int_prop(0)
    rhs_end = opt_prop_def(IntegerAttr.constr(i64))

    @staticmethod
    def infer_type(
        data: TensorInfo,
        shape_like: TensorInfo,
        lhs_begin: int,
        rhs_begin: int,
        lhs_end: int | None = None,
        rhs_end: int | None = None,
    ) -> TensorInfo:
        def part(shape: tuple[int, ...], begin: int, end: int | None, side: str) -> slice:
            rank = len(shape)
            first = begin + rank if begin < 0 else begin
            last = rank if end is None else (end + rank if end < 0 else end)
            if not 0 <= first <= last <= rank:
                raise TypeMismatch(f"{side}_begin {begin} and {side}_end {end} are no part of {rank} dimensions")
            return slice(first, last)

        left = part(data.shape, lhs_begin, lhs_end, "lhs")
        right = part(shape_like.shape, rhs_begin, rhs_end, "rhs")
        old, new = data.shape[left], shape_like.shape[right]
        if prod(old) != prod(new):
            raise TypeMismatch(f"dimensions {old} of {data.shape} do not hold as many elements as {new}")
        return TensorInfo((*data.shape[: left.start], *new, *data.shape[left.stop :]), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, shape_like: Tensor, **attrs: Any) -> Tensor:
        types = TensorInfo(data.shape, data.dtype), TensorInfo(shape_like.shape, shape_like.dtype)
        return te.reshape(data, ReshapeLikeOp.infer_type(*types, **attrs).shape, "reshape_like")

    @staticmethod
    def np_ref(
        data: Array,
        shape_like: Array,
        lhs_begin: int,
        rhs_begin: int,
        lhs_end: int | None = None,
        rhs_end: int | None = None,
    ) -> Array:
        shape = list(data.shape)
        stop = len(shape) if lhs_end is None else lhs_end
        shape[lhs_begin:stop] = shape_like.shape[rhs_begin:rhs_end]
        return data.reshape(shape)

    @staticmethod
    def samples() -> list[Sample]:
        def one(a: tuple[int, ...], b: tuple[int, ...], dtype: str = "float32", **kw: Any) -> Sample:
            error = kw.pop("error", None)
            return sample((a, dtype), (b, "int32"), attrs=kw, error=error)

        return [
            one((3, 4), (2, 6)),
            one((12,), (2, 3, 2)),
            one((2, 3, 4), (6, 4), lhs_begin=0, lhs_end=2, rhs_end=1),
            one((2, 12), (3, 4, 9), lhs_begin=1, rhs_end=2),
            one((2, 12, 5), (9, 3, 4), lhs_begin=1, lhs_end=-1, rhs_begin=1),
            one((2, 12), (9, 3, 4), lhs_begin=-1, rhs_begin=-2),
            one((1,), ()),
            one((3, 5), (5, 3), "bool"),
            one((0, 5), (3, 0), "float64"),
            one((3, 5), (15,), "int64"),
            one((3, 4), (5,), error="dimensions (3, 4) of (3, 4) do not hold as many elements as (5,)"),
            one((3, 4), (3,), lhs_begin=1, lhs_end=0, error="lhs_begin 1 and lhs_end 0 are no part of 2 dimensions"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **_: Any) -> Gradients:
        return [reshaped(grads[0], operands[0]), None]


@irdl_op_definition
class SliceLikeOp(Injective):
    """The leading part of `data` of the extents of `shape_like`, on `axes` or on all where that is empty."""

    name = "relay.slice_like"

    data = operand_def(TensorType)
    shape_like = operand_def(TensorType)
    axes = ints_prop(())

    @staticmethod
    def infer_type(data: TensorInfo, shape_like: TensorInfo, axes: tuple[int, ...]) -> TensorInfo:
        shape, like = list(data.shape), shape_like.shape
        if not axes and len(shape) != len(like):
            raise TypeMismatch(f"shapes {data.shape} and {like} differ in rank, and no axes are named")
        for axis in axes or range(len(shape)):
            place = normalize_axis(axis, len(shape))
            if place >= len(like):
                raise TypeMismatch(f"axis {place} is out of range for rank {len(like)}")
            if like[place] > shape[place]:
                raise TypeMismatch(f"axis {place} has extent {shape[place]}, less than {like[place]}")
            shape[place] = like[place]
        return TensorInfo(tuple(shape), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, shape_like: Tensor, axes: tuple[int, ...]) -> Tensor:
        types = TensorInfo(data.shape, data.dtype), TensorInfo(shape_like.shape, shape_like.dtype)
        return te.compute(SliceLikeOp.infer_type(*types, axes).shape, lambda *i: data[i], "slice_like")

    @staticmethod
    def np_ref(data: Array, shape_like: Array, axes: tuple[int, ...]) -> Array:
        cuts = [slice(None)] * data.ndim
        for axis in axes or range(data.ndim):
            cuts[axis] = slice(shape_like.shape[axis % data.ndim])
        return data[tuple(cuts)]

    @staticmethod
    def samples() -> list[Sample]:
        def one(a: tuple[int, ...], b: tuple[int, ...], dtype: str = "float32", **kw: Any) -> Sample:
            error = kw.pop("error", None)
            return sample((a, dtype), b, attrs=kw, error=error)

        return [
            one((5, 7), (3, 4)),
            one((5, 7), (3, 9), axes=(0,)),
            one((5, 7, 2), (9, 4), axes=(1,)),
            one((5, 7), (9, 4), axes=(-1,)),
            one((5, 7), (2, 3), axes=(1, 0)),
            one((1,), (1,)),
            one((), ()),
            one((5, 7), (0, 7), "int32"),
            one((5, 7), (5, 7), "bool"),
            one((5, 7), (5, 2), "float64"),
            one((5, 7), (3,), error="shapes (5, 7) and (3,) differ in rank, and no axes are named"),
            one((5, 7), (6, 7), error="axis 0 has extent 5, less than 6"),
            one((5, 7), (3,), axes=(1,), error="axis 1 is out of range for rank 1"),
            one((5, 7), (3, 3), axes=(2,), error="axis 2 is out of range for rank 2"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        wide, narrow = shape_of(operands[0]), shape_of(results[0])
        return [sliced_back(grads[0], wide, [(0, 1, e) for e in narrow]), None]


@irdl_op_definition
class CastLikeOp(RelayOp, fusion_kind=OpPattern.ELEMWISE):
    """`data` in the dtype of `dtype_like`."""

    name = "relay.cast_like"

    data = operand_def(TensorType)
    dtype_like = operand_def(TensorType)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, dtype_like: TensorInfo) -> TensorInfo:
        check_dtype(data.dtype, ALL)
        return TensorInfo(data.shape, check_dtype(dtype_like.dtype, ALL))

    @staticmethod
    def te_compute(data: Tensor, dtype_like: Tensor) -> Tensor:
        return te.compute(data.shape, lambda *i: te.cast(data[i], dtype_like.dtype), "cast_like")

    @staticmethod
    def np_ref(data: Array, dtype_like: Array) -> Array:
        return data.astype(dtype_like.dtype)

    @staticmethod
    def samples() -> list[Sample]:
        pairs = [
            *(("float32", d) for d in ("float64", "float16", "bfloat16", "int32", "int8", "bool")),
            *(("int32", d) for d in ("float32", "int64", "uint8", "bool")),
            *(("bool", d) for d in ("float32", "int32")),
        ]
        return [
            *(sample(((3, 5), a), ((2,), b)) for a, b in pairs),
            sample((), ((), "int64")),
            sample(((1,), "float64"), (7,)),
            sample((2,), error="takes 2 operands, got 1"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [in_dtype(grads[0], operands[0]), None]


def _collapse_cases() -> list[tuple[tuple[int, ...], tuple[int, ...], str, str | None]]:
    """Each way of broadcasting taken back: the tensor, the shape, the dtype, and what is wrong."""
    return [
        ((3, 5), (5,), "float32", None),
        ((3, 5), (3, 1), "float32", None),
        ((4, 2, 3, 5), (2, 1, 5), "float32", None),
        ((2, 3), (), "float32", None),
        ((2, 3), (1, 1), "float32", None),
        ((3, 5), (3, 5), "float32", None),
        ((1,), (1,), "float32", None),
        ((3, 5), (5,), "float64", None),
        ((3, 40), (3, 1), "float16", None),
        ((7, 5), (5,), "int32", None),
        ((7, 5), (1, 5), "int8", None),
        ((3, 5), (3,), "float32", "shape (3,) does not broadcast to (3, 5)"),
        ((3, 5), (5,), "bool", "got bool"),
    ]


def _collapsed(data: Tensor, shape: tuple[int, ...], name: str) -> Tensor:
    """The sum over every dimension along which a tensor of the shape would be repeated."""
    if data.shape == shape:
        return te.compute(shape, lambda *i: data[i], name)
    new = data.ndim - len(shape)
    axes = tuple(a for a, e in enumerate(data.shape) if a < new or e != shape[a - new])
    total = wide_sum(data, axes, True, lambda *i: data[i], f"{name}_wide")
    if not new:
        return narrowed(total, data.dtype, name)

    def element(*i: Index) -> Any:
        return te.cast(total[(*(0 for _ in range(new)), *i)], data.dtype)

    return te.compute(shape, element, name)


def _collapsed_ref(data: Array, shape: tuple[int, ...]) -> Array:
    wide = data.astype(numpy_dtype(sum_dtype(str(data.dtype))))
    while wide.ndim > len(shape):
        wide = wide.sum(axis=0, dtype=wide.dtype)
    for a, e in enumerate(shape):
        if e == 1:
            wide = wide.sum(axis=a, keepdims=True, dtype=wide.dtype)
    return np.asarray(wide, data.dtype)


def _collapsed_type(data: TensorInfo, shape: tuple[int, ...]) -> TensorInfo:
    if not _extends(shape, data.shape):
        raise TypeMismatch(f"shape {shape} does not broadcast to {data.shape}")
    return TensorInfo(shape, check_dtype(data.dtype, NUMBERS))


@irdl_op_definition
class CollapseSumLikeOp(RelayOp, fusion_kind=OpPattern.COMM_REDUCE):
    """`data` summed to the shape of `collapse_type`, from which broadcasting leads to that of `data`."""

    name = "relay.collapse_sum_like"

    data = operand_def(TensorType)
    collapse_type = operand_def(TensorType)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, collapse_type: TensorInfo) -> TensorInfo:
        return _collapsed_type(data, collapse_type.shape)

    @staticmethod
    def te_compute(data: Tensor, collapse_type: Tensor) -> Tensor:
        return _collapsed(data, collapse_type.shape, "collapse_sum_like")

    @staticmethod
    def np_ref(data: Array, collapse_type: Array) -> Array:
        return _collapsed_ref(data, collapse_type.shape)

    @staticmethod
    def samples() -> list[Sample]:
        return [sample((a, dtype), b, error=error) for a, b, dtype, error in _collapse_cases()]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.broadcast_to_like(grads[0], operands[0]), None]


@irdl_op_definition
class CollapseSumToOp(RelayOp, fusion_kind=OpPattern.COMM_REDUCE):
    """`data` summed to `shape`, from which broadcasting leads to that of `data`."""

    name = "relay.collapse_sum_to"

    data = operand_def(TensorType)
    shape = ints_prop()
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, shape: tuple[int, ...]) -> TensorInfo:
        return _collapsed_type(data, checked_shape(shape))

    @staticmethod
    def te_compute(data: Tensor, shape: tuple[int, ...]) -> Tensor:
        return _collapsed(data, shape, "collapse_sum_to")

    @staticmethod
    def np_ref(data: Array, shape: tuple[int, ...]) -> Array:
        return _collapsed_ref(data, shape)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            *(sample((a, dtype), attrs={"shape": b}, error=error) for a, b, dtype, error in _collapse_cases()),
            sample((3,), attrs={"shape": (-1,)}, error="shape [-1] has a negative extent"),
        ]

    relay_grad = vjp(lambda dy, x, y: r.broadcast_to_like(dy, x))
