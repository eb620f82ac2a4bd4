"""Running sums and products along an axis: cumsum, cumprod.

An element is computed from the one before it, one after the other as NumPy does; the loop along the axis is outside of
those over the axes behind it, which are contiguous. 16-bit floats are accumulated in f32.
"""

from __future__ import annotations

import abc
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.elements import cumulative_product_gradient
from lamina.dialects.relay.reduce.reductions import sum_dtype
from lamina.dialects.relay.row_loops import each_place, extern_tensor

if TYPE_CHECKING:
    from lamina.dialects.relay.row_loops import Place


class Cumulative(Opaque, precision=Precision.NEVER):
    """Running results: all elements up to each one together along `axis` (of the flattened tensor where it is absent);
    with `exclusive` all before this one. `dtype` is that of the result, of the operand where it is empty."""

    START: ClassVar[int]

    data = operand_def(TensorType)
    axis = opt_prop_def(IntegerAttr.constr(i64))
    dtype = str_prop("")
    exclusive = bool_prop(False)

    @staticmethod
    @abc.abstractmethod
    def combine(total: Scalar, x: Scalar) -> Scalar:
        """Combine what has been accumulated with one element more."""

    @staticmethod
    def infer_type(data: TensorInfo, dtype: str, exclusive: bool, axis: int | None = None) -> TensorInfo:
        check_dtype(data.dtype, ALL)
        result = check_dtype(dtype or data.dtype, NUMBERS)
        if is_float(data.dtype) and not is_float(result):
            raise TypeMismatch(f"accumulates {data.dtype} in {dtype}; cast first")
        if axis is None:
            return TensorInfo((prod(data.shape),), result)
        if not data.shape:
            raise TypeMismatch("a tensor of rank 0 has no axis")
        normalize_axis(axis, len(data.shape))
        return TensorInfo(data.shape, result)

    @classmethod
    def te_compute(cls, data: Tensor, dtype: str, exclusive: bool, axis: int | None = None) -> Tensor:
        name = cls.name.rpartition(".")[2]
        dtype = dtype or data.dtype
        if axis is None:
            data = te.reshape(data, (prod(data.shape),), f"{name}_flat") if data.ndim != 1 else data
            axis = 0
        place = normalize_axis(axis, data.ndim)
        extent, inner = data.shape[place], data.shape[place + 1 :]
        wide = sum_dtype(dtype)

        def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
            (x,), (y,) = ins, outs

            def lines(outer: Place) -> None:
                # One total for each place behind the axis.
                total = ib.allocate(wide, (1, *inner), f"{name}_total")

                def start(at: Place) -> None:
                    total[(0, *at)] = cls.START

                def step(at: Place) -> None:
                    t, *rest = at
                    here = (*outer, t, *rest)
                    old = total[(0, *rest)]
                    new = cls.combine(old, te.cast(x[here], wide))
                    y[here] = te.cast(old if exclusive else new, dtype)
                    total[(0, *rest)] = new

                each_place(ib, inner, start)
                each_place(ib, (extent, *inner), step)

            each_place(ib, data.shape[:place], lines, parallel=True)

        return extern_tensor(data.shape, dtype, [data], body, name)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((7,)),
            sample((2, 3, 5)),
            sample((2, 3, 5), attrs={"axis": 0}),
            sample((2, 3, 5), attrs={"axis": 1}),
            sample((2, 3, 5), attrs={"axis": -1, "exclusive": True}),
            sample((2, 3), attrs={"exclusive": True}),
            sample((1,), attrs={"axis": 0, "exclusive": True}),
            sample((3, 1), attrs={"axis": 1}),
            sample(()),
            sample((0, 3), attrs={"axis": 1}),
            sample(((4, 9), "int32"), attrs={"axis": -1}),
            sample(((9,), "int8"), attrs={"dtype": "int32"}),
            sample(((9,), "int8"), attrs={"axis": 0}),
            sample(((9,), "bool"), attrs={"dtype": "int32"}),
            sample(((9,), "uint8"), attrs={"dtype": "float32"}),
            sample(((3, 40), "float16"), attrs={"axis": 1}, ranges=((0.5, 1.0),)),
            sample(((3, 7), "bfloat16"), attrs={"axis": 0}),
            sample(((3, 7), "float64"), attrs={"axis": 0}),
            sample((13,), finite=False),
            sample((3,), attrs={"axis": 1}, error="axis 1 is out of range for rank 1"),
            sample((), attrs={"axis": 0}, error="rank 0"),
            sample(((3,), "bool"), error="got bool"),
            sample((3,), attrs={"dtype": "int32"}, error="accumulates float32 in int32"),
        ]


def _ref(function: Any, start: int, data: Array, dtype: str, exclusive: bool, axis: int | None) -> Array:
    """numpy's function; for `exclusive` of the start and all elements but the last."""
    result = numpy_dtype(dtype or str(data.dtype))
    wide = numpy_dtype(sum_dtype(str(result)))
    x = np.asarray(data, wide)
    if axis is None:
        x, axis = x.reshape(-1), 0
    if exclusive:
        kept = np.take(x, np.arange(max(x.shape[axis] - 1, 0)), axis)
        first = np.full((*x.shape[:axis], min(x.shape[axis], 1), *x.shape[axis:][1:]), start, wide)
        x = np.concatenate([first, kept], axis)
    return function(x, axis=axis, dtype=wide).astype(result)


@irdl_op_definition
class CumsumOp(Cumulative):
    """The sum of the elements up to each along `axis` (of the flattened tensor where it is absent), with `exclusive`
    of those before it, in `dtype` or that of the operand."""

    name = "relay.cumsum"
    START: ClassVar[int] = 0

    @staticmethod
    def combine(total: Scalar, x: Scalar) -> Scalar:
        return total + x

    @staticmethod
    def np_ref(data: Array, dtype: str, exclusive: bool, axis: int | None = None) -> Array:
        return _ref(np.cumsum, 0, data, dtype, exclusive, axis)

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, dtype: str, exclusive: bool, axis: int | None = None
    ) -> Gradients:
        (x,) = operands
        place = 0 if axis is None else axis
        back = r.reverse(r.cumsum(r.reverse(grads[0], axis=place), axis=place, exclusive=exclusive), axis=place)
        return [reshaped(in_dtype(back, x), x)]


@irdl_op_definition
class CumprodOp(Cumulative):
    """The product of the elements up to each along `axis` (of the flattened tensor where it is absent), with
    `exclusive` of those before it, in `dtype` or that of the operand."""

    name = "relay.cumprod"
    START: ClassVar[int] = 1

    @staticmethod
    def combine(total: Scalar, x: Scalar) -> Scalar:
        return total * x

    @staticmethod
    def np_ref(data: Array, dtype: str, exclusive: bool, axis: int | None = None) -> Array:
        return _ref(np.cumprod, 1, data, dtype, exclusive, axis)

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, dtype: str, exclusive: bool, axis: int | None = None
    ) -> Gradients:
        return [cumulative_product_gradient(grads[0], operands[0], exclusive, axis)]
