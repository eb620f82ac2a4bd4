"""Reductions over axes: sum, mean, product, extremes and where they lie, all, any, variance.

A reduction of NaN is NaN (numpy's rule); the place of the greatest element is that of the first NaN if there is one.
16-bit floats are added up in f32. argmax and argmin are two reductions, since an equation reduces to one value: the
greatest element, then the least index among the elements equal to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan, prod
from typing import Any

from lamina.dialects.dtypes import holding
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.elements import extremum_gradient, product_gradient

LEAST_ROWS = 1024
"""Elements from which on two steps are less than one."""
ROW = 1024
"""The most elements of a row."""
LANES = 32
"""A row of fewer than two such vectors has no partial results."""


def sum_dtype(dtype: str) -> str:
    """The dtype in which values are added up: f32 for 16-bit floats, else their own."""
    return "float32" if is_float(dtype) and itemsize(dtype) == 2 else dtype


def wide_sum(x: Tensor, axes: tuple[int, ...], keepdims: bool, element: Callable[..., Any], name: str) -> Tensor:
    """The sum of `element(place)` over the axes, in `sum_dtype`."""
    dtype = sum_dtype(x.dtype)
    return reduce_compute(x, axes, keepdims, te.sum, lambda *i: te.cast(element(*i), dtype), name=name)


def narrowed(x: Tensor, dtype: str, name: str) -> Tensor:
    """The tensor in the dtype, itself where it is of that dtype already."""
    return x if x.dtype == dtype else te.compute(x.shape, lambda *i: te.cast(x[i], dtype), name)


def count_of(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """The number of elements that are reduced to one."""
    count = 1
    for a in axes:
        count *= shape[a]
    return count


@irdl_op_definition
class SumOp(Reduction):
    """The sum over the axes, in the operand's dtype; integers wrap."""

    name = "relay.sum"

    @staticmethod
    def te_compute(data: Tensor, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Tensor:
        axes = reduced_axes(axis, exclude, data.ndim)
        return narrowed(wide_sum(data, axes, keepdims, lambda *i: data[i], "sum"), data.dtype, "sum_narrow")

    @staticmethod
    def np_ref(data: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Array:
        axes = reduced_axes(axis, exclude, data.ndim)
        return np.sum(data, axis=axes, keepdims=keepdims, dtype=data.dtype)

    @staticmethod
    def extra_samples() -> list[Sample]:
        return [
            sample((3, 0), attrs={"axis": (1,)}),
            sample(((3, 40), "float16"), attrs={"axis": (0,)}),
            sample(((300,), "int8"), ranges=((-128.0, 127.0),)),
            sample((3, 31), attrs={"axis": (0,)}, finite=False),
        ]

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, axis: tuple[int, ...], keepdims: bool, exclude: bool
    ) -> Gradients:
        return [unreduced(grads[0], operands[0], axis, keepdims, exclude)]


@irdl_op_definition
class ProdOp(Reduction):
    """The product over the axes, in the operand's dtype; integers wrap."""

    name = "relay.prod"

    @staticmethod
    def te_compute(data: Tensor, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Tensor:
        return reduce_compute(data, reduced_axes(axis, exclude, data.ndim), keepdims, te.prod, name="prod")

    @staticmethod
    def np_ref(data: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Array:
        axes = reduced_axes(axis, exclude, data.ndim)
        return np.prod(data, axis=axes, keepdims=keepdims, dtype=data.dtype)

    @staticmethod
    def extra_samples() -> list[Sample]:
        return [sample((3, 0), attrs={"axis": (1,)}), sample((3, 9), attrs={"axis": (0,)}, finite=False)]

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, axis: tuple[int, ...], keepdims: bool, exclude: bool
    ) -> Gradients:
        return [product_gradient(grads[0], operands[0], axis, keepdims, exclude)]


class _Extremum(Reduction, precision=Precision.FOLLOW, empty=False):
    """One of the elements; of none there is none."""

    @staticmethod
    def extra_samples() -> list[Sample]:
        return [sample((5, 9), attrs={"axis": (1,)}, finite=False), sample(((3, 9), "float16"), attrs={"axis": (1,)})]

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, axis: tuple[int, ...], keepdims: bool, exclude: bool
    ) -> Gradients:
        return [extremum_gradient(grads[0], operands[0], results[0], axis, keepdims, exclude)]

    @classmethod
    def legalize(cls, inputs: Sequence[SSAValue], **attrs: Any) -> SSAValue | None:
        """One element of many is that of rows: those have vectors of partial results, a lone one is a chain."""
        (x,) = inputs
        shape = shape_of(x)
        size, rank = prod(shape), len(shape)
        if size < LEAST_ROWS or len(reduced_axes(attrs["axis"], attrs["exclude"], rank)) < rank:
            return None
        width = next((w for w in range(ROW, 2 * LANES, -1) if size % w == 0), 0)
        if not width:
            return None
        word = getattr(r, cls.name.removeprefix("relay."))
        found = word(word(r.reshape(x, newshape=(size // width, width)), axis=(1,)))
        return r.reshape(found, newshape=(1,) * rank) if attrs["keepdims"] else found


@irdl_op_definition
class MaxOp(_Extremum):
    """The greatest element; NaN where there is one."""

    name = "relay.max"

    @staticmethod
    def te_compute(data: Tensor, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Tensor:
        return reduce_compute(data, reduced_axes(axis, exclude, data.ndim), keepdims, te.max, name="max")

    @staticmethod
    def np_ref(data: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Array:
        return np.max(data, axis=reduced_axes(axis, exclude, data.ndim), keepdims=keepdims)


@irdl_op_definition
class MinOp(_Extremum):
    """The smallest element; NaN where there is one."""

    name = "relay.min"

    @staticmethod
    def te_compute(data: Tensor, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Tensor:
        return reduce_compute(data, reduced_axes(axis, exclude, data.ndim), keepdims, te.min, name="min")

    @staticmethod
    def np_ref(data: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Array:
        return np.min(data, axis=reduced_axes(axis, exclude, data.ndim), keepdims=keepdims)


def _bool_samples() -> list[Sample]:
    """The family's samples with booleans for floats."""
    shapes: list[tuple[tuple[int, ...], dict[str, Any]]] = [
        ((2, 3), {}),
        ((2, 3, 3), {"axis": (-1,)}),
        ((3, 0), {"axis": (1,)}),
        ((2, 3), {"axis": (0,), "keepdims": True}),
    ]
    return [sample((shape, "bool"), attrs=attrs) for shape, attrs in shapes]


@irdl_op_definition
class AllOp(Reduction, dtypes=BOOL):
    """Whether all elements hold."""

    name = "relay.all"

    @staticmethod
    def te_compute(data: Tensor, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Tensor:
        return reduce_compute(data, reduced_axes(axis, exclude, data.ndim), keepdims, te.min, name="all")

    @staticmethod
    def np_ref(data: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Array:
        return np.all(data, axis=reduced_axes(axis, exclude, data.ndim), keepdims=keepdims)

    @staticmethod
    def extra_samples() -> list[Sample]:
        return _bool_samples()


@irdl_op_definition
class AnyOp(Reduction, dtypes=BOOL):
    """Whether one element holds."""

    name = "relay.any"

    @staticmethod
    def te_compute(data: Tensor, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Tensor:
        return reduce_compute(data, reduced_axes(axis, exclude, data.ndim), keepdims, te.max, name="any")

    @staticmethod
    def np_ref(data: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Array:
        return np.any(data, axis=reduced_axes(axis, exclude, data.ndim), keepdims=keepdims)

    @staticmethod
    def extra_samples() -> list[Sample]:
        return _bool_samples()


@irdl_op_definition
class MeanOp(Reduction, empty=False):
    """The sum over the axes divided by the count; integers divide towards zero."""

    name = "relay.mean"

    @staticmethod
    def te_compute(data: Tensor, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Tensor:
        axes = reduced_axes(axis, exclude, data.ndim)
        count = count_of(data.shape, axes)
        total = wide_sum(data, axes, keepdims, lambda *i: data[i], "mean_sum")

        def element(*i: Index) -> Any:
            value = total[i]
            if is_float(value.dtype):
                return te.cast(value / count, data.dtype)
            return te.cast(te.truncdiv(te.cast(value, holding(value.dtype, count)), count), data.dtype)

        return te.compute(total.shape, element, "mean")

    @staticmethod
    def np_ref(data: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> Array:
        axes = reduced_axes(axis, exclude, data.ndim)
        if data.dtype.kind not in "iu":
            return np.mean(data, axis=axes, keepdims=keepdims)
        total = np.sum(data, axis=axes, keepdims=keepdims, dtype=data.dtype)
        wide, count = total.astype(np.uint64 if data.dtype.kind == "u" else np.int64), count_of(data.shape, axes)
        # fmod has the sign of the sum: without it there is a multiple of the count, no further from 0.
        return ((wide - np.fmod(wide, count)) // count).astype(data.dtype)

    @staticmethod
    def extra_samples() -> list[Sample]:
        return [
            sample(((3, 40), "float16"), attrs={"axis": (1,)}),
            sample((1, 3, 7, 7), attrs={"axis": (2, 3)}),
            *(sample(((40, n), "int8"), attrs={"axis": (1,)}) for n in (127, 128, 200, 300)),
            sample(((2, 300), "uint8"), attrs={"axis": (1,)}),
        ]

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, axis: tuple[int, ...], keepdims: bool, exclude: bool
    ) -> Gradients:
        (x,) = operands
        return [unreduced(r.divide(grads[0], float(reduced_count(x, axis, exclude))), x, axis, keepdims, exclude)]


# -- the place of an extreme -----------------------------------------------------------------------


class ArgReduction(Reduction, precision=Precision.FOLLOW, dtypes=ALL, result_dtype="int32", empty=False):
    """The place of an extreme as int32, counted in row-major order over the reduced axes."""

    select_last_index = bool_prop(False)

    @staticmethod
    def extra_samples() -> list[Sample]:
        few = ((-2.0, 2.0),)
        return [
            sample(((4, 9), "int32"), attrs={"axis": (1,), "select_last_index": True}, ranges=few),
            sample(((4, 9), "int32"), attrs={"axis": (1,)}, ranges=few),
            sample((3, 17), attrs={"axis": (1,), "select_last_index": True}, finite=False),
            sample((3, 17), attrs={"axis": (0,)}, finite=False),
            sample((2, 3, 5), attrs={"axis": (0, 2), "select_last_index": True}),
        ]


def arg_compute(
    data: Tensor, reducer: Any, axis: tuple[int, ...], keepdims: bool, exclude: bool, last: bool, name: str
) -> Tensor:
    """The extreme by `reducer`, then the least (or the last) place that holds it or NaN."""
    axes = reduced_axes(axis, exclude, data.ndim)
    extreme = reduce_compute(data, axes, True, reducer, name=f"{name}_value")
    count = count_of(data.shape, axes)

    def place(*i: Any) -> Any:
        value = data[i]
        best = extreme[tuple(0 if a in axes else i[a] for a in range(data.ndim))]
        found = te.equal(value, best)
        if is_float(data.dtype):
            found = found | te.not_equal(value, value)
        number: Any = 0
        for a in axes:
            number = i[a] + number * data.shape[a]
        here = te.cast(number, "int32") if axes else te.const(0, "int32")
        return te.select(found, here, -1 if last else count)

    return reduce_compute(data, axes, keepdims, te.max if last else te.min, place, name=name)


def arg_ref(find: Any, data: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool, last: bool) -> Array:
    """numpy's argmax or argmin over several axes, from either end."""
    axes = reduced_axes(axis, exclude, data.ndim)
    kept = [a for a in range(data.ndim) if a not in axes]
    count = count_of(data.shape, axes)
    rows = np.transpose(data, [*kept, *axes]).reshape([*(data.shape[a] for a in kept), count])
    found = count - 1 - find(rows[..., ::-1], axis=-1) if last else find(rows, axis=-1)
    return np.asarray(found, np.int32).reshape(reduced_shape(data.shape, axes, keepdims))


@irdl_op_definition
class ArgMaxOp(ArgReduction):
    """The place of the greatest element, the first of equals or the last with `select_last_index`; NaN goes first."""

    name = "relay.argmax"

    @staticmethod
    def te_compute(
        data: Tensor, axis: tuple[int, ...], keepdims: bool, exclude: bool, select_last_index: bool
    ) -> Tensor:
        return arg_compute(data, te.max, axis, keepdims, exclude, select_last_index, "argmax")

    @staticmethod
    def np_ref(data: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool, select_last_index: bool) -> Array:
        return arg_ref(np.argmax, data, axis, keepdims, exclude, select_last_index)


@irdl_op_definition
class ArgMinOp(ArgReduction):
    """The place of the smallest element, the first of equals or the last with `select_last_index`; NaN goes first."""

    name = "relay.argmin"

    @staticmethod
    def te_compute(
        data: Tensor, axis: tuple[int, ...], keepdims: bool, exclude: bool, select_last_index: bool
    ) -> Tensor:
        return arg_compute(data, te.min, axis, keepdims, exclude, select_last_index, "argmin")

    @staticmethod
    def np_ref(data: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool, select_last_index: bool) -> Array:
        return arg_ref(np.argmin, data, axis, keepdims, exclude, select_last_index)


# -- variance --------------------------------------------------------------------------------------


@irdl_op_definition
class VarianceOp(Reduction, dtypes=FLOATS, empty=False):
    """sum((data - mean)^2) / n over the axes, n - 1 with `unbiased`; `mean` has extent 1 in the reduced axes."""

    name = "relay.variance"

    data = operand_def(TensorType)
    mean = operand_def(TensorType)
    unbiased = bool_prop(False)

    @classmethod
    def infer_type(
        cls,
        data: TensorInfo,
        mean: TensorInfo,
        axis: tuple[int, ...],
        keepdims: bool,
        exclude: bool,
        unbiased: bool,
    ) -> TensorInfo:
        same_dtype(data, mean)
        result = cls.reduced_type(data, axis, keepdims, exclude)
        expected = reduced_shape(data.shape, reduced_axes(axis, exclude, len(data.shape)), True)
        if mean.shape != expected:
            raise TypeMismatch(f"mean has shape {mean.shape}, expected {expected}")
        return result

    @staticmethod
    def te_compute(
        data: Tensor, mean: Tensor, axis: tuple[int, ...], keepdims: bool, exclude: bool, unbiased: bool
    ) -> Tensor:
        axes = reduced_axes(axis, exclude, data.ndim)
        count = count_of(data.shape, axes) - unbiased
        dtype = sum_dtype(data.dtype)

        def square(*i: Any) -> Any:
            centre = mean[tuple(0 if a in axes else i[a] for a in range(data.ndim))]
            off = te.cast(data[i], dtype) - te.cast(centre, dtype)
            return off * off

        total = wide_sum(data, axes, keepdims, square, "variance_sum")
        return te.compute(total.shape, lambda *i: te.cast(total[i] / count, data.dtype), "variance")

    @staticmethod
    def np_ref(data: Array, mean: Array, axis: tuple[int, ...], keepdims: bool, exclude: bool, unbiased: bool) -> Array:
        axes = reduced_axes(axis, exclude, data.ndim)
        squares = np.square(data.astype(np.float64) - mean.astype(np.float64))
        total = np.sum(squares, axis=axes, keepdims=keepdims)
        return np.asarray(total / np.float64(count_of(data.shape, axes) - unbiased)).astype(data.dtype)

    @classmethod
    def samples(cls) -> list[Sample]:
        def mean_type(shape: tuple[int, ...], attrs: dict[str, Any], dtype: str) -> list[Any]:
            listed = attrs.get("axis", ())
            if [a for a in listed if a >= len(shape)] or len({a % len(shape) for a in listed}) < len(listed):
                return [(shape, dtype)]
            axes = reduced_axes(listed, attrs.get("exclude", False), len(shape))
            return [(reduced_shape(shape, axes, True), dtype)]

        return [
            *reduction_samples(cls, mean_type),
            sample((2, 7), (2, 1), attrs={"axis": (1,), "unbiased": True}),
            sample((2, 1), (2, 1), attrs={"axis": (1,), "unbiased": True}),
            sample(((2, 9), "float16"), ((2, 1), "float16"), attrs={"axis": (-1,)}),
            sample((2, 7), (2,), attrs={"axis": (1,)}, error="mean has shape (2,), expected (2, 1)"),
        ]

    @staticmethod
    def relay_grad(
        grads: Values,
        operands: Values,
        results: Values,
        *,
        axis: tuple[int, ...],
        keepdims: bool,
        exclude: bool,
        unbiased: bool,
    ) -> Gradients:
        x, mean = operands
        count = reduced_count(x, axis, exclude) - unbiased
        share = r.divide(
            r.multiply(unreduced(grads[0], x, axis, keepdims, exclude), 2.0), float(count) if count else nan
        )
        slope = r.multiply(share, r.subtract(x, mean))
        return [slope, collapsed(r.negative(slope), mean)]
