"""Ops that write elements at places read from memory: scatter_elements, scatter_nd, sparse_to_dense.

Updates are applied one after the other in row-major order, so that of two at one place the later wins, whatever
the virtual machine. Negative indices count from the end; an update whose index is outside of the tensor is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.elements import (
    along_one_axis,
    at_coordinates,
    combined_gradients,
    replaced_gradients,
)
from lamina.dialects.relay.row_loops import each_place, extern_tensor
from lamina.dialects.relay.shape.indexing import INDEX_DTYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lamina.dialects.relay.row_loops import Place

REDUCTIONS = ("update", "add", "mul", "min", "max", "mean")


def combined(reduction: str, old: Scalar, new: Scalar) -> Scalar:
    """Combine an element with its update; `mean` is half their sum, as in TVM."""
    if reduction == "mean":
        total = old + new
        return total / 2 if is_float(total.dtype) else te.truncdiv(total, 2)
    if reduction == "update":
        return new
    if old.dtype == "bool":
        return old & new if reduction in ("mul", "min") else old | new
    by: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
        "add": lambda a, b: a + b,
        "mul": lambda a, b: a * b,
        "min": te.minimum,
        "max": te.maximum,
    }
    return by[reduction](old, new)


def checked_reduction(reduction: str, allowed: Sequence[str], dtype: str, word: str) -> None:
    """Raises TypeMismatch where the reduction is not among those allowed."""
    if reduction not in allowed:
        raise TypeMismatch(f"{word} {reduction!r} is none of {', '.join(map(repr, allowed))}")
    if reduction == "mean" and dtype == "bool":
        raise TypeMismatch("the mean of bool")


def from_the_end(index: Scalar, extent: int) -> tuple[Scalar, Scalar]:
    """An index that may count from the end: moved into 0 .. extent - 1, and whether it was meant for the tensor."""
    unsigned = is_unsigned(index.dtype)
    wide = te.cast(index, "int64")
    counted = wide if unsigned else te.select(wide < 0, wide + extent, wide)
    return te.clamped(counted, extent), (counted >= 0) & (counted < extent)


def copy_into(ib: IRBuilder, source: Buffer, target: Buffer) -> None:
    """Every element of one buffer into another of its shape."""

    def copy(place: Place) -> None:
        target[place] = source[place]

    each_place(ib, source.shape, copy, parallel=True)


def write(target: Buffer, place: tuple[Any, ...], inside: Scalar, value: Scalar, reduction: str) -> None:
    """An update of an element, which stays as it is where the place is not meant."""
    old = target[place]
    target[place] = te.select(inside, combined(reduction, old, value), old)


def apply_update(out: Array, place: tuple[int, ...], value: Any, reduction: str) -> None:
    """The same in numpy, for the oracles."""
    if not all(-e <= p < e for p, e in zip(place, out.shape, strict=False)):
        return
    old = out[place]
    with np.errstate(all="ignore"):
        if reduction == "update":
            out[place] = value
        elif reduction == "mean":
            total = np.asarray(old + value, out.dtype)
            out[place] = total / 2 if out.dtype.kind not in "iu" else np.trunc(total / np.longdouble(2))
        else:
            functions = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
            out[place] = functions[reduction](old, value)


def _updated(
    shape: tuple[int, ...],
    indices: tuple[int, ...],
    updates: tuple[int, ...],
    dtype: str = "float32",
    index_dtype: str = "int64",
    **attrs: Any,
) -> Sample:
    """A sample that updates a shape at so many indices; `attrs` may hold an `error`, and whether it is `finite`."""
    finite, error = attrs.pop("finite", True), attrs.pop("error", None)
    types = (shape, dtype), (indices, index_dtype), (updates, dtype)
    return sample(*types, attrs=attrs, finite=finite, error=error)


@irdl_op_definition
class ScatterElementsOp(Opaque):
    """`data`, where out[i, indices[i, j, k], k] is combined with updates[i, j, k] (for axis 1) by `reduction`: update,
    add, mul, min, max, or mean, which is half the sum of the two."""

    name = "relay.scatter_elements"

    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    axis = int_prop(0)
    reduction = str_prop("update")

    @staticmethod
    def infer_type(data: TensorInfo, indices: TensorInfo, updates: TensorInfo, axis: int, reduction: str) -> TensorInfo:
        check_dtype(indices.dtype, INDEX_DTYPES)
        same_dtype(data, updates)
        checked_reduction(reduction, REDUCTIONS, data.dtype, "reduction")
        if indices.shape != updates.shape:
            raise TypeMismatch(f"indices have shape {indices.shape}, updates {updates.shape}")
        if not data.shape or len(data.shape) != len(indices.shape):
            raise TypeMismatch(f"data has rank {len(data.shape)}, indices {len(indices.shape)}; equal ranks are needed")
        place = normalize_axis(axis, len(data.shape))
        for a, (e, f) in enumerate(zip(indices.shape, data.shape, strict=True)):
            if a != place and e > f:
                raise TypeMismatch(f"indices have extent {e} in axis {a}, data only {f}")
        return data

    @staticmethod
    def te_compute(data: Tensor, indices: Tensor, updates: Tensor, axis: int, reduction: str) -> Tensor:
        at = normalize_axis(axis, data.ndim)

        def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
            (x, index, update), (y,) = ins, outs
            copy_into(ib, x, y)

            def one(place: Place) -> None:
                target, inside = from_the_end(index[place], data.shape[at])
                write(y, (*place[:at], target, *place[at + 1 :]), inside, update[place], reduction)

            each_place(ib, indices.shape, one)

        return extern_tensor(data.shape, data.dtype, [data, indices, updates], body, "scatter_elements")

    @staticmethod
    def np_ref(data: Array, indices: Array, updates: Array, axis: int, reduction: str) -> Array:
        out = np.copy(data)
        for place in np.ndindex(*indices.shape):
            target = list(place)
            target[axis] = int(indices[place])
            apply_update(out, tuple(target), updates[place], reduction)
        return out

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], indices: tuple[int, ...], *dtypes: str, **kw: Any) -> Sample:
            return _updated(shape, indices, indices, *dtypes, **kw)

        return [
            one((9,), (5,)),
            one((9, 3), (4, 3)),
            one((3, 9), (2, 5), axis=1),
            one((2, 9, 3), (2, 5, 2), axis=-2, reduction="add"),
            one((3, 9), (3, 20), axis=1, reduction="mul"),
            one((3, 9), (3, 20), axis=-1, reduction="min"),
            one((3, 9), (3, 20), axis=-1, reduction="max", finite=False),
            one((9,), (20,), reduction="mean"),
            one((1,), (1,)),
            one((5,), (0,)),
            one((0,), (0,)),
            one((9,), (20,), "int32", "int32", reduction="add"),
            one((9,), (20,), "int8", "int8", reduction="mean"),
            one((9,), (20,), "float64", "uint8", reduction="add"),
            one((9,), (20,), "float16"),
            one((9,), (20,), "bool", "int32", reduction="add"),
            one((9,), (5,), index_dtype="float32", error="got float32"),
            one((9,), (5,), reduction="sub", error="reduction 'sub' is none of 'update', 'add'"),
            one((9,), (5,), "bool", reduction="mean", error="the mean of bool"),
            one((9,), (5,), axis=1, error="axis 1 is out of range for rank 1"),
            one((9, 2), (5,), error="data has rank 2, indices 1"),
            one((9, 2), (5, 3), error="indices have extent 3 in axis 1, data only 2"),
            sample((9,), ((5,), "int64"), (4,), error="indices have shape (5,), updates (4,)"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axis: int, reduction: str) -> Gradients:
        data, indices, _ = operands
        if reduction == "update":
            return replaced_gradients(grads[0], r.scatter_elements, operands, axis=axis, reduction=reduction)
        to = along_one_axis(data, indices, axis)
        return combined_gradients(grads[0], operands, results[0], to, reduction)


@irdl_op_definition
class ScatterNDOp(Opaque):
    """`data`, where the slice at the coordinates indices[:, y...] is combined with updates[y..., ...] by `mode`:
    update, add, mul, min or max."""

    name = "relay.scatter_nd"

    data = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    mode = str_prop("update")

    @staticmethod
    def infer_type(data: TensorInfo, indices: TensorInfo, updates: TensorInfo, mode: str) -> TensorInfo:
        check_dtype(indices.dtype, INDEX_DTYPES)
        same_dtype(data, updates)
        checked_reduction(mode, REDUCTIONS[:5], data.dtype, "mode")
        if not indices.shape or indices.shape[0] > len(data.shape):
            raise TypeMismatch(f"indices of shape {indices.shape} hold no coordinates of rank {len(data.shape)}")
        expected = (*indices.shape[1:], *data.shape[indices.shape[0] :])
        if updates.shape != expected:
            raise TypeMismatch(f"updates have shape {updates.shape}, expected {expected}")
        return data

    @staticmethod
    def te_compute(data: Tensor, indices: Tensor, updates: Tensor, mode: str) -> Tensor:
        coordinates = indices.shape[0]

        def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
            (x, index, update), (y,) = ins, outs
            copy_into(ib, x, y)

            def one(at: Place) -> None:
                # The coordinates are read once for the whole slice.
                target: list[Any] = []
                inside: Any = te.const(1, "bool")
                for c in range(coordinates):
                    to, fits = from_the_end(index[(c, *at)], data.shape[c])
                    target.append(to)
                    inside = inside & fits

                def element(rest: Place) -> None:
                    write(y, (*target, *rest), inside, update[(*at, *rest)], mode)

                each_place(ib, data.shape[coordinates:], element)

            each_place(ib, indices.shape[1:], one)

        return extern_tensor(data.shape, data.dtype, [data, indices, updates], body, "scatter_nd")

    @staticmethod
    def np_ref(data: Array, indices: Array, updates: Array, mode: str) -> Array:
        out = np.copy(data)
        for at in np.ndindex(*indices.shape[1:]):
            target = tuple(int(i) for i in indices[(slice(None), *at)])
            apply_update(out, target, updates[at], mode)
        return out

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], indices: tuple[int, ...], *dtypes: str, **kw: Any) -> Sample:
            return _updated(shape, indices, (*indices[1:], *shape[indices[0] :]), *dtypes, **kw)

        return [
            one((9,), (1, 5)),
            one((7, 3), (1, 4)),
            one((7, 9), (2, 5)),
            one((7, 9), (2, 3, 2), mode="add"),
            one((7, 9, 2), (2, 12), mode="mul"),
            one((7, 9), (1, 12), mode="min"),
            one((7, 9), (1, 12), mode="max", finite=False),
            one((1,), (1, 1)),
            one((3, 4), (2, 0)),
            one((3, 4), (2,)),
            one((7,), (1, 30), "int32", "int32", mode="add"),
            one((7,), (1, 30), "bool", "int8", mode="mul"),
            one((7,), (1, 30), "float64", "uint8"),
            one((7,), (1, 5), index_dtype="float32", error="got float32"),
            one((7,), (1, 5), mode="mean", error="mode 'mean' is none of"),
            sample((7,), ((2, 5), "int64"), (5,), error="indices of shape (2, 5) hold no coordinates of rank 1"),
            sample((7,), ((1, 5), "int64"), (4,), error="updates have shape (4,), expected (5,)"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, mode: str) -> Gradients:
        data, indices, updates = operands
        if mode == "update":
            return replaced_gradients(grads[0], r.scatter_nd, operands, mode=mode)
        to = at_coordinates(data, indices, updates)
        return combined_gradients(grads[0], operands, results[0], to, mode)


@irdl_op_definition
class SparseToDenseOp(Opaque):
    """A tensor of `output_shape` that holds sparse_values[n] (or the one value) at the place sparse_indices[n] and
    default_value elsewhere. A scalar or a vector of indices is one of places in a vector."""

    name = "relay.sparse_to_dense"

    sparse_indices = operand_def(TensorType)
    sparse_values = operand_def(TensorType)
    default_value = operand_def(TensorType)
    output_shape = ints_prop()

    @staticmethod
    def infer_type(
        sparse_indices: TensorInfo, sparse_values: TensorInfo, default_value: TensorInfo, output_shape: tuple[int, ...]
    ) -> TensorInfo:
        check_dtype(sparse_indices.dtype, INDEX_DTYPES)
        dtype = same_dtype(sparse_values, default_value)
        places = sparse_indices.shape
        if len(places) > 2 or len(output_shape) != (places[1] if len(places) == 2 else 1):
            raise TypeMismatch(f"indices of shape {places} hold no coordinates of rank {len(output_shape)}")
        if default_value.shape or sparse_values.shape not in ((), places[:1]):
            raise TypeMismatch(
                f"values of shape {sparse_values.shape} and a default of shape {default_value.shape} "
                f"for indices of shape {places}"
            )
        if not output_shape or min(output_shape) < 0:
            raise TypeMismatch(f"output_shape is {list(output_shape)}")
        return TensorInfo(output_shape, dtype)

    @staticmethod
    def te_compute(
        sparse_indices: Tensor, sparse_values: Tensor, default_value: Tensor, output_shape: tuple[int, ...]
    ) -> Tensor:
        def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
            (index, value, default), (y,) = ins, outs

            def fill(place: Place) -> None:
                y[place] = default[()]

            def one(place: Place) -> None:
                target: list[Any] = []
                inside: Any = te.const(1, "bool")
                for c, extent in enumerate(output_shape):
                    read = index[(*place, c)] if sparse_indices.ndim == 2 else index[place]
                    at, fits = from_the_end(read, extent)
                    target.append(at)
                    inside = inside & fits
                write(y, tuple(target), inside, value[place if sparse_values.ndim else ()], "update")

            each_place(ib, output_shape, fill, parallel=True)
            each_place(ib, sparse_indices.shape[:1], one)

        inputs = [sparse_indices, sparse_values, default_value]
        return extern_tensor(output_shape, sparse_values.dtype, inputs, body, "sparse_to_dense")

    @staticmethod
    def np_ref(
        sparse_indices: Array, sparse_values: Array, default_value: Array, output_shape: tuple[int, ...]
    ) -> Array:
        out = np.full(output_shape, default_value)
        places = sparse_indices.reshape(-1, len(output_shape))
        values: Array = np.broadcast_to(sparse_values, (len(places),))
        for n, place in enumerate(places):
            apply_update(out, tuple(int(p) for p in place), values[n], "update")
        return out

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            indices: tuple[int, ...],
            values: tuple[int, ...],
            shape: tuple[int, ...],
            dtype: str = "float32",
            index_dtype: str = "int64",
            **kw: Any,
        ) -> Sample:
            return sample((indices, index_dtype), (values, dtype), ((), dtype), attrs={"output_shape": shape}, **kw)

        return [
            one((), (), (9,)),
            one((5,), (5,), (9,)),
            one((5,), (), (9,)),
            one((6, 2), (6,), (7, 9)),
            one((6, 3), (), (2, 3, 9)),
            one((1, 1), (1,), (1,)),
            one((0, 2), (0,), (2, 3)),
            one((5,), (5,), (0,)),
            one((12,), (12,), (9,), "int32", "int8"),
            one((12,), (12,), (9,), "bool", "uint8"),
            one((12, 2), (12,), (9, 2), "float64", "int32"),
            one((5,), (5,), (9,), index_dtype="float32", error="got float32"),
            one((5, 2), (5,), (9,), error="indices of shape (5, 2) hold no coordinates of rank 1"),
            one((5,), (4,), (9,), error="values of shape (4,) and a default of shape () for indices of shape (5,)"),
            one((5,), (5,), (-9,), error="output_shape is [-9]"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        indices, values, default = operands
        from_where = r.sparse_to_dense(
            indices, places_of(values, 1), r.cast(number(0.0, default), dtype="int64"), **attrs
        )
        into_values = scattered(grads[0], from_where, values, absent=True)
        return [None, into_values, r.sum(selected(r.equal(from_where, 0), grads[0]))]
