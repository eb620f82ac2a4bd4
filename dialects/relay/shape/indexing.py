"""Ops that pick elements: strided_slice, reverse, take, gather, gather_nd.

An index that is read from memory never leads outside the tensor: it is clamped to the axis (mode `clip`, as TVM's
take), or taken modulo its extent (mode `wrap`). Who wants negative indices to count from the end wraps.
"""

from __future__ import annotations

from math import prod
from typing import Any

from lamina.dialects.relay.declare import *

INDEX_DTYPES = tuple(d for d in INTEGERS if d != "uint64")


# -- slices ----------------------------------------------------------------------------------------


def slice_bounds(
    shape: tuple[int, ...],
    begin: tuple[int, ...],
    end: tuple[int, ...],
    strides: tuple[int, ...],
    axes: tuple[int, ...],
    slice_mode: str,
) -> list[tuple[int, int, int]]:
    """(first index, stride, count) for every axis of the tensor. Raises TypeMismatch where lists do not fit."""
    if slice_mode not in ("end", "size"):
        raise TypeMismatch(f"slice_mode {slice_mode!r} is neither 'end' nor 'size'")
    listed = axes or tuple(range(len(begin)))
    steps = strides or (1,) * len(begin)
    if not len(begin) == len(end) == len(listed) == len(steps):
        raise TypeMismatch(
            f"begin, end, strides and axes differ in length: {len(begin)}, {len(end)}, {len(steps)}, {len(listed)}"
        )
    if len(begin) > len(shape):
        raise TypeMismatch(f"slices {len(begin)} axes of a tensor of rank {len(shape)}")
    places = [normalize_axis(a, len(shape)) for a in listed]
    if len(set(places)) != len(places):
        raise TypeMismatch(f"axes {list(listed)} names an axis twice")
    bounds = [(0, 1, e) for e in shape]
    for a, first, last, step in zip(places, begin, end, steps, strict=True):
        if step == 0:
            raise TypeMismatch("a stride is 0")
        extent = shape[a]
        if slice_mode == "size":
            # `end` is a count, negative for all the rest; strides are not read.
            start = min(max(first + extent if first < 0 else first, 0), extent)
            count = extent - start if last < 0 else min(last, extent - start)
            bounds[a] = (start, 1, count)
        elif is_symbolic(extent) or is_symbolic(first) or is_symbolic(last):
            bounds[a] = _span(first, last, step, extent)
        else:
            span = range(*slice(first, last, step).indices(extent))
            bounds[a] = (span.start, step, len(span))
    return bounds


def _span(first: int, last: int, step: int, extent: int) -> tuple[int, int, int]:
    """(first index, stride, count) of `[first:last:step]` of an extent, where one of them depends on symbols."""
    low, high = (0, extent) if step > 0 else (-1, extent - 1)

    def inside(place: int) -> int:
        if place < 0:
            place += extent
            return place if at_least(place, low) or place >= low else low
        return place if place <= high else high

    start, stop = inside(first), inside(last)
    # Rounded up: the last step need not be whole.
    count = (stop - start + step - 1) // step if step > 0 else (start - stop - step - 1) // -step
    return start, step, count if count >= 0 else 0


@irdl_op_definition
class StridedSliceOp(Injective):
    """x[begin:end:strides] on `axes` (the leading ones where empty), bounds as in Python; slice_mode `size`: `end` is
    a count, negative for all the rest, and strides are 1."""

    name = "relay.strided_slice"

    data = operand_def(TensorType)
    begin = ints_prop()
    end = ints_prop()
    strides = ints_prop(())
    axes = ints_prop(())
    slice_mode = str_prop("end")

    @staticmethod
    def infer_type(data: TensorInfo, **attrs: Any) -> TensorInfo:
        return TensorInfo(tuple(count for _, _, count in slice_bounds(data.shape, **attrs)), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, **attrs: Any) -> Tensor:
        bounds = slice_bounds(data.shape, **attrs)

        def element(*i: Index) -> Any:
            return data[tuple(p * step + first for p, (first, step, _) in zip(i, bounds, strict=True))]

        return te.compute([count for _, _, count in bounds], element, "strided_slice")

    @staticmethod
    def np_ref(
        data: Array,
        begin: tuple[int, ...],
        end: tuple[int, ...],
        strides: tuple[int, ...],
        axes: tuple[int, ...],
        slice_mode: str,
    ) -> Array:
        cuts = [slice(None)] * data.ndim
        for n, a in enumerate(axes or range(len(begin))):
            first = begin[n]
            if slice_mode == "end":
                cuts[a] = slice(first, end[n], strides[n] if strides else 1)
            else:
                first += data.shape[a] if first < 0 else 0
                cuts[a] = slice(first, None if end[n] < 0 else first + end[n])
        return data[tuple(cuts)]

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            shape: tuple[int, ...], begin: tuple[int, ...], end: tuple[int, ...], dtype: str = "float32", **kw: Any
        ) -> Sample:
            error = kw.pop("error", None)
            return sample((shape, dtype), attrs={"begin": begin, "end": end, **kw}, error=error)

        return [
            one((5, 7), (1, 2), (4, 7)),
            one((5, 7), (0, -3), (5, 100)),
            one((5, 7), (1,), (4,)),
            one((5, 7), (1,), (6,), axes=(-1,), strides=(2,)),
            one((5, 7), (6, 4), (0, -100), axes=(1, 0), strides=(-2, -1)),
            one((5, 7), (-1,), (-9,), strides=(-1,)),
            one((1,), (0,), (1,)),
            one((5, 7), (3,), (2,)),
            one((5, 7), (1, 2), (3, -1), slice_mode="size"),
            one((5, 7), (-2,), (9,), slice_mode="size", axes=(1,)),
            one((3, 4), (1,), (3,), "float64"),
            one((3, 4), (1,), (3,), "int32", axes=(1,)),
            one((9,), (1,), (8,), "bool", strides=(3,)),
            one((9,), (1,), (8,), "uint8"),
            one((5, 7), (1, 2), (4,), error="begin, end, strides and axes differ in length: 2, 1, 2, 2"),
            one((5,), (1, 2), (4, 4), error="slices 2 axes of a tensor of rank 1"),
            one((5, 7), (1,), (4,), strides=(0,), error="a stride is 0"),
            one((5, 7), (1,), (4,), axes=(2,), error="axis 2 is out of range for rank 2"),
            one((5, 7), (1, 1), (4, 4), axes=(1, -1), error="names an axis twice"),
            one((5, 7), (1,), (4,), slice_mode="both", error="slice_mode 'both' is neither"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        shape = shape_of(operands[0])
        return [sliced_back(grads[0], shape, slice_bounds(shape, **attrs))]


@irdl_op_definition
class ReverseOp(Injective):
    """The tensor in reverse along `axis`."""

    name = "relay.reverse"

    data = operand_def(TensorType)
    axis = int_prop()

    @staticmethod
    def infer_type(data: TensorInfo, axis: int) -> TensorInfo:
        if not data.shape:
            raise TypeMismatch("a tensor of rank 0 has no axis to reverse")
        normalize_axis(axis, len(data.shape))
        return data

    @staticmethod
    def te_compute(data: Tensor, axis: int) -> Tensor:
        place = normalize_axis(axis, data.ndim)
        last = data.shape[place] - 1
        return te.compute(data.shape, lambda *i: data[(*i[:place], last - i[place], *i[place + 1 :])], "reverse")

    @staticmethod
    def np_ref(data: Array, axis: int) -> Array:
        return np.flip(data, axis)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3, 5), attrs={"axis": 0}),
            sample((2, 3, 5), attrs={"axis": 1}),
            sample((2, 3, 5), attrs={"axis": -1}),
            sample((1, 7), attrs={"axis": 0}),
            sample(((7,), "float64"), attrs={"axis": 0}),
            sample(((3, 2), "int32"), attrs={"axis": -2}),
            sample(((5,), "bool"), attrs={"axis": 0}),
            sample(((5,), "int64"), attrs={"axis": -1}),
            sample((3,), attrs={"axis": 1}, error="axis 1 is out of range for rank 1"),
            sample((), attrs={"axis": 0}, error="rank 0"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axis: int) -> Gradients:
        return [r.reverse(grads[0], axis=axis)]


# -- gathers ---------------------------------------------------------------------------------------


def _refuse_empty_axis(extent: int) -> None:
    if extent == 0:
        raise TypeMismatch("takes elements from an axis of extent 0")


def _read_at(
    shape: tuple[int, ...], indices: tuple[int, ...], dtype: str = "float32", index_dtype: str = "int64", **attrs: Any
) -> Sample:
    """A sample that reads from a shape at so many indices; `attrs` may hold an `error`."""
    error = attrs.pop("error", None)
    return sample((shape, dtype), (indices, index_dtype), attrs=attrs, error=error)


@irdl_op_definition
class TakeOp(Injective):
    """The slices of `data` along `axis` (of the flattened tensor where it is absent) at the places in `indices`.

    The first `batch_dims` axes are common to both. y[b, o, j, i] = data[b, o, indices[b, j], i].
    """

    name = "relay.take"

    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = opt_prop_def(IntegerAttr.constr(i64))
    batch_dims = int_prop(0)
    mode = str_prop("clip")

    @staticmethod
    def infer_type(
        data: TensorInfo, indices: TensorInfo, batch_dims: int, mode: str, axis: int | None = None
    ) -> TensorInfo:
        check_dtype(indices.dtype, INDEX_DTYPES)
        if mode not in ("clip", "wrap"):
            raise TypeMismatch(f"mode {mode!r} is neither 'clip' nor 'wrap'")
        if axis is None:
            if batch_dims:
                raise TypeMismatch("batch_dims needs an axis")
            _refuse_empty_axis(prod(data.shape))
            return TensorInfo(indices.shape, data.dtype)
        if not data.shape:
            raise TypeMismatch("a tensor of rank 0 has no axis to take from")
        place = normalize_axis(axis, len(data.shape))
        _refuse_empty_axis(data.shape[place])
        if not 0 <= batch_dims <= min(place, len(indices.shape)):
            raise TypeMismatch(f"batch_dims {batch_dims} is beyond axis {place} or the rank of indices")
        if data.shape[:batch_dims] != indices.shape[:batch_dims]:
            raise TypeMismatch(f"the first {batch_dims} extents of {data.shape} and {indices.shape} differ")
        return TensorInfo((*data.shape[:place], *indices.shape[batch_dims:], *data.shape[place + 1 :]), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, indices: Tensor, batch_dims: int, mode: str, axis: int | None = None) -> Tensor:
        bounded = te.clamped if mode == "clip" else te.wrapped
        if axis is None:
            flat = te.reshape(data, (prod(data.shape),), "take_flat") if data.ndim != 1 else data
            return te.compute(indices.shape, lambda *i: flat[bounded(indices[i], flat.shape[0])], "take")
        place = normalize_axis(axis, data.ndim)
        rank = indices.ndim - batch_dims
        shape = [*data.shape[:place], *indices.shape[batch_dims:], *data.shape[place + 1 :]]

        def element(*i: Index) -> Any:
            index = indices[(*i[:batch_dims], *i[place : place + rank])]
            return data[(*i[:place], bounded(index, data.shape[place]), *i[place + rank :])]

        return te.compute(shape, element, "take")

    @staticmethod
    def np_ref(data: Array, indices: Array, batch_dims: int, mode: str, axis: int | None = None) -> Array:
        wide = indices.astype(np.int64)
        if batch_dims == 0:
            return np.take(data, wide, axis, mode="clip" if mode == "clip" else "wrap")
        inner = None if axis is None else (axis if axis < 0 else axis - 1)
        parts = [TakeOp.np_ref(d, i, batch_dims - 1, mode, inner) for d, i in zip(data, wide, strict=True)]
        return np.stack(parts)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            _read_at((5, 7), (3,), axis=0),
            _read_at((5, 7), (2, 3), axis=1),
            _read_at((5, 7), (2, 3), axis=-1, mode="wrap"),
            _read_at((5, 7), (), axis=0),
            _read_at((5, 7), (4,)),
            _read_at((11,), (3, 2), mode="wrap"),
            _read_at((1,), (1,), axis=0),
            _read_at((3, 5, 4), (3, 2), axis=1, batch_dims=1),
            _read_at((2, 3, 5), (2, 3, 4), axis=-1, batch_dims=2),
            _read_at((5, 3), (7,), "float64", "int32", axis=0),
            _read_at((5, 3), (7,), "int32", "int8", axis=0),
            _read_at((5, 3), (7,), "bool", "uint8", axis=1),
            _read_at((5, 3), (0,), "int64", axis=1),
            _read_at((5, 7), (3,), index_dtype="float32", axis=0, error="got float32"),
            _read_at((5, 7), (3,), axis=2, error="axis 2 is out of range for rank 2"),
            _read_at((5, 7), (3,), axis=0, mode="raise", error="mode 'raise' is neither 'clip' nor 'wrap'"),
            _read_at((5, 0), (3,), axis=1, error="from an axis of extent 0"),
            _read_at((5, 7), (3,), axis=0, batch_dims=1, error="batch_dims 1 is beyond axis 0"),
            _read_at((5, 7), (3, 2), axis=1, batch_dims=1, error="the first 1 extents of (5, 7) and (3, 2) differ"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return picked(TakeOp, grads, operands, attrs)


@irdl_op_definition
class GatherOp(Injective):
    """y[i, j, k] = data[i, indices[i, j, k], k] for axis 1: the place on `axis` is read, the others are its own."""

    name = "relay.gather"

    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = int_prop()

    @staticmethod
    def infer_type(data: TensorInfo, indices: TensorInfo, axis: int) -> TensorInfo:
        check_dtype(indices.dtype, INDEX_DTYPES)
        if not data.shape or len(data.shape) != len(indices.shape):
            raise TypeMismatch(f"data has rank {len(data.shape)}, indices {len(indices.shape)}; equal ranks are needed")
        place = normalize_axis(axis, len(data.shape))
        _refuse_empty_axis(data.shape[place])
        for a, (e, f) in enumerate(zip(indices.shape, data.shape, strict=True)):
            if a != place and e > f:
                raise TypeMismatch(f"indices have extent {e} in axis {a}, data only {f}")
        return TensorInfo(indices.shape, data.dtype)

    @staticmethod
    def te_compute(data: Tensor, indices: Tensor, axis: int) -> Tensor:
        place = normalize_axis(axis, data.ndim)

        def element(*i: Index) -> Any:
            return data[(*i[:place], te.clamped(indices[i], data.shape[place]), *i[place + 1 :])]

        return te.compute(indices.shape, element, "gather")

    @staticmethod
    def np_ref(data: Array, indices: Array, axis: int) -> Array:
        places: list[Array] = [*np.indices(indices.shape)]
        places[axis] = np.clip(indices.astype(np.int64), 0, data.shape[axis] - 1)
        return data[tuple(places)]

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], indices: tuple[int, ...], axis: int, *dtypes: str, **kw: Any) -> Sample:
            return _read_at(shape, indices, *dtypes, axis=axis, **kw)

        return [
            one((5, 7), (5, 3), 1),
            one((5, 7), (2, 7), 0),
            one((2, 3, 5), (2, 9, 5), -2),
            one((5, 7), (4, 9), -1),
            one((1,), (1,), 0),
            one((6,), (11,), 0, "float64"),
            one((3, 4), (3, 2), 1, "int32", "int32"),
            one((3, 4), (3, 2), 1, "bool", "uint8"),
            one((3, 4), (3, 2), 1, index_dtype="float32", error="got float32"),
            one((3, 4), (3,), 0, error="data has rank 2, indices 1"),
            one((3, 4), (4, 2), 1, error="indices have extent 4 in axis 0, data only 3"),
            one((3, 4), (3, 2), 2, error="axis 2 is out of range for rank 2"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return picked(GatherOp, grads, operands, attrs)


@irdl_op_definition
class GatherNDOp(Injective):
    """y[b, j, i] = data[b, indices[0, b, j], indices[1, b, j], ..., i]: the first axis of `indices` lists coordinates.

    The first `batch_dims` axes after it are common with the first of `data`.
    """

    name = "relay.gather_nd"

    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    batch_dims = int_prop(0)

    @staticmethod
    def infer_type(data: TensorInfo, indices: TensorInfo, batch_dims: int) -> TensorInfo:
        check_dtype(indices.dtype, INDEX_DTYPES)
        if not indices.shape:
            raise TypeMismatch("indices have rank 0, their first axis lists coordinates")
        coordinates, places = indices.shape[0], indices.shape[1:]
        if not 0 <= batch_dims <= min(len(data.shape), len(places)):
            raise TypeMismatch(
                f"batch_dims {batch_dims} is beyond the ranks of data {data.shape} or indices {indices.shape}"
            )
        if coordinates + batch_dims > len(data.shape):
            raise TypeMismatch(
                f"{coordinates} coordinates after {batch_dims} batch axes, data has rank {len(data.shape)}"
            )
        if data.shape[:batch_dims] != places[:batch_dims]:
            raise TypeMismatch(f"the batch extents {data.shape[:batch_dims]} and {places[:batch_dims]} differ")
        for extent in data.shape[batch_dims : batch_dims + coordinates]:
            _refuse_empty_axis(extent)
        return TensorInfo((*places, *data.shape[batch_dims + coordinates :]), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
        coordinates, rank = indices.shape[0], indices.ndim - 1
        shape = [*indices.shape[1:], *data.shape[batch_dims + coordinates :]]

        def element(*i: Index) -> Any:
            read = [te.clamped(indices[(n, *i[:rank])], data.shape[batch_dims + n]) for n in range(coordinates)]
            return data[(*i[:batch_dims], *read, *i[rank:])]

        return te.compute(shape, element, "gather_nd")

    @staticmethod
    def np_ref(data: Array, indices: Array, batch_dims: int) -> Array:
        if batch_dims:
            rows = [GatherNDOp.np_ref(data[n], indices[:, n], batch_dims - 1) for n in range(data.shape[0])]
            return np.stack(rows)
        limits = data.shape[: indices.shape[0]]
        return data[tuple(np.clip(i.astype(np.int64), 0, e - 1) for i, e in zip(indices, limits, strict=True))]

    @staticmethod
    def samples() -> list[Sample]:
        return [
            _read_at((5, 7), (2, 3)),
            _read_at((5, 7), (1, 3)),
            _read_at((5, 7, 3), (2, 2, 4)),
            _read_at((3, 5, 7), (1, 3, 4), batch_dims=1),
            _read_at((3, 5, 7), (2, 3), batch_dims=1),
            _read_at((2, 3, 5), (1, 2, 3), batch_dims=2),
            _read_at((1,), (1, 1)),
            _read_at((6, 4), (2,), "float64"),
            _read_at((6, 4), (1, 9), "int32", "int32"),
            _read_at((6, 4), (2, 9), "bool", "int8"),
            _read_at((5,), (2, 3), error="2 coordinates after 0 batch axes, data has rank 1"),
            _read_at((5, 7), (2, 3), index_dtype="float32", error="got float32"),
            _read_at((5, 7), (1, 3), batch_dims=1, error="the batch extents (5,) and (3,) differ"),
            _read_at((5, 7), (1, 5), batch_dims=3, error="batch_dims 3 is beyond the ranks"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return picked(GatherNDOp, grads, operands, attrs)
