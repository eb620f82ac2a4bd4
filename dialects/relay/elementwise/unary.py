"""Elementwise ops of one operand, y[i] = f(x[i]): signs, rounding, tests, conversion, constants of a shape.

The functions of analysis are in `transcendental.py`.
"""

from __future__ import annotations

import math

from lamina.dialects.dtypes import integer_range
from lamina.dialects.relay.declare import *


@irdl_op_definition
class AbsOp(Elementwise, te_element=lambda x: te.abs(x), np_ref=lambda x: np.abs(x), dtypes=NUMBERS):
    """y = |x|; of the smallest integer that integer itself."""

    name = "relay.abs"
    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.sign(x)))


@irdl_op_definition
class CeilOp(Elementwise, te_element=lambda x: te.ceil(x), np_ref=lambda x: np.ceil(x)):
    """y = the least whole number not below x."""

    name = "relay.ceil"
    relay_grad = vjp(lambda dy, x, y: None)


@irdl_op_definition
class CopyOp(Elementwise, te_element=lambda x: x, np_ref=lambda x: np.copy(x), dtypes=ALL):
    """y = x."""

    name = "relay.copy"
    relay_grad = vjp(lambda dy, x, y: dy)


@irdl_op_definition
class FloorOp(Elementwise, te_element=lambda x: te.floor(x), np_ref=lambda x: np.floor(x)):
    """y = the greatest whole number not above x."""

    name = "relay.floor"
    relay_grad = vjp(lambda dy, x, y: None)


@irdl_op_definition
class IsFiniteOp(
    Elementwise, te_element=lambda x: te.abs(x) < math.inf, np_ref=lambda x: np.isfinite(x), result_dtype="bool"
):
    """y = whether x is neither NaN nor infinite."""

    name = "relay.isfinite"


@irdl_op_definition
class IsInfOp(
    Elementwise, te_element=lambda x: te.equal(te.abs(x), math.inf), np_ref=lambda x: np.isinf(x), result_dtype="bool"
):
    """y = whether x is an infinity."""

    name = "relay.isinf"


@irdl_op_definition
class IsNanOp(Elementwise, te_element=lambda x: te.not_equal(x, x), np_ref=lambda x: np.isnan(x), result_dtype="bool"):
    """y = whether x is NaN."""

    name = "relay.isnan"


@irdl_op_definition
class LogicalNotOp(Elementwise, te_element=lambda x: x ^ True, np_ref=lambda x: np.logical_not(x), dtypes=BOOL):
    """y = not x."""

    name = "relay.logical_not"


@irdl_op_definition
class BitwiseNotOp(Elementwise, dtypes=INTEGERS + BOOL):
    """y = every bit of x inverted."""

    name = "relay.bitwise_not"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return x ^ np.invert(np.zeros((), x.dtype)).item()  # all bits, as a number of the dtype

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.invert(x)


@irdl_op_definition
class NegativeOp(Elementwise, te_element=lambda x: -x, np_ref=lambda x: np.negative(x), dtypes=NUMBERS):
    """y = -x; integers wrap."""

    name = "relay.negative"
    relay_grad = vjp(lambda dy, x, y: r.negative(dy))


@irdl_op_definition
class RoundOp(Elementwise, te_element=lambda x: te.roundeven(x), np_ref=lambda x: np.round(x)):
    """y = the nearest whole number, halves to the even one (as numpy and ONNX)."""

    name = "relay.round"
    relay_grad = vjp(lambda dy, x, y: None)


@irdl_op_definition
class SignOp(Elementwise, dtypes=NUMBERS):
    """y = -1, 0 or 1 with the sign of x; NaN of NaN."""

    name = "relay.sign"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.select(x > 0, 1, x) if is_unsigned(x.dtype) else te.select(x > 0, 1, te.select(x < 0, -1, x + 0))

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.sign(x)

    relay_grad = vjp(lambda dy, x, y: None)


@irdl_op_definition
class TruncOp(Elementwise, te_element=lambda x: te.trunc(x), np_ref=lambda x: np.trunc(x)):
    """y = x without its fraction."""

    name = "relay.trunc"
    relay_grad = vjp(lambda dy, x, y: None)


@irdl_op_definition
class OnesLikeOp(Elementwise, te_element=lambda x: te.const(1, x.dtype), np_ref=lambda x: np.ones_like(x), dtypes=ALL):
    """y = a tensor of ones of the type of x."""

    name = "relay.ones_like"
    relay_grad = vjp(lambda dy, x, y: None)


@irdl_op_definition
class ZerosLikeOp(
    Elementwise, te_element=lambda x: te.const(0, x.dtype), np_ref=lambda x: np.zeros_like(x), dtypes=ALL
):
    """y = a tensor of zeros of the type of x."""

    name = "relay.zeros_like"
    relay_grad = vjp(lambda dy, x, y: None)


@irdl_op_definition
class CastOp(Elementwise, dtypes=ALL, exact=True):
    """y = x as `dtype`; a float that the integer type does not hold gives no particular value, NaN is true."""

    name = "relay.cast"
    dtype = str_prop()

    @classmethod
    def infer_type(cls, x: TensorInfo, dtype: str) -> TensorInfo:
        if dtype not in DTYPES:
            raise TypeMismatch(f"dtype {dtype!r} is none of {', '.join(DTYPES)}")
        return TensorInfo(x.shape, dtype)

    @staticmethod
    def te_element(x: Scalar, dtype: str) -> Scalar:
        return te.cast(x, dtype)

    @staticmethod
    def np_ref(x: Array, dtype: str) -> Array:
        return x.astype(numpy_dtype(dtype))

    @classmethod
    def samples(cls) -> list[Sample]:
        small = ((0.0, 100.0),)
        pairs = [
            ("float32", "int32"), ("float32", "bool"), ("float32", "uint8"), ("float64", "float32"),
            ("float32", "float64"), ("float32", "float16"), ("float16", "float32"), ("float64", "int64"),
            ("int64", "int32"), ("int64", "int8"), ("int64", "float32"), ("int32", "bool"), ("bool", "float32"),
            ("bool", "int64"), ("uint8", "int32"), ("uint8", "float32"), ("int8", "uint8"), ("uint32", "int64"),
            ("int32", "int32"),
        ]  # fmt: skip
        shapes = [(2, 3, 5), (7,), (), (1, 1)]
        return [
            *(
                sample((shapes[n % 4], a), attrs={"dtype": b}, ranges=small if b.startswith("u") else None)
                for n, (a, b) in enumerate(pairs)
            ),
            sample((3,), attrs={"dtype": "float31"}, error="dtype 'float31' is none of"),
            sample((3,), error="attribute 'dtype' is missing"),
        ]

    relay_grad = vjp(lambda dy, x, y: in_dtype(dy, x))


@irdl_op_definition
class ClipOp(Elementwise, dtypes=NUMBERS):
    """y = min(max(x, a_min), a_max); NaN stays NaN. For integers the bounds are whole numbers or infinite."""

    name = "relay.clip"
    a_min = float_prop()
    a_max = float_prop()

    @classmethod
    def infer_type(cls, x: TensorInfo, a_min: float, a_max: float) -> TensorInfo:
        check_dtype(x.dtype, cls.DTYPES)
        if math.isnan(a_min) or math.isnan(a_max):
            raise TypeMismatch("a bound is NaN")
        for bound in (a_min, a_max):
            if not is_float(x.dtype) and math.isfinite(bound) and not bound.is_integer():
                raise TypeMismatch(f"clips {x.dtype} at {bound}, which is no whole number")
        return x

    @staticmethod
    def te_element(x: Scalar, a_min: float, a_max: float) -> Scalar:
        low, high = (a_min, a_max) if is_float(x.dtype) else integer_bounds(x.dtype, a_min, a_max)
        return te.minimum(te.maximum(x, low), high)

    @staticmethod
    def np_ref(x: Array, a_min: float, a_max: float) -> Array:
        if x.dtype.kind in "iu":
            limits = np.iinfo(x.dtype)
            a_min, a_max = (int(min(max(b, limits.min), limits.max)) for b in (a_min, a_max))
        return np.clip(x, x.dtype.type(a_min), x.dtype.type(a_max)).astype(x.dtype)  # numpy has no clip of bfloat16

    @classmethod
    def samples(cls) -> list[Sample]:
        both = {"a_min": -1.0, "a_max": 1.5}
        return [
            sample((2, 3, 5), attrs=both),
            sample((17,), attrs=both, finite=False),
            sample((), attrs={"a_min": 0.0, "a_max": 6.0}),
            sample((1,), attrs={"a_min": 0.0, "a_max": math.inf}),
            sample(((3, 7), "float64"), attrs={"a_min": -math.inf, "a_max": 0.1}),
            sample(((9,), "float16"), attrs=both),
            sample(((5, 5), "int32"), attrs={"a_min": -3.0, "a_max": 2.0}),
            sample(((31,), "int8"), attrs={"a_min": -1000.0, "a_max": 2.0}),
            sample(((31,), "uint8"), attrs={"a_min": -5.0, "a_max": 3.0}),
            sample(((4,), "int64"), attrs={"a_min": 2.0, "a_max": -2.0}),
            sample(((3,), "bool"), attrs=both, error="got bool"),
            sample(((3,), "int32"), attrs=both, error="1.5, which is no whole number"),
            sample((3,), attrs={"a_min": 0.0}, error="attribute 'a_max' is missing"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, a_min: float, a_max: float) -> Gradients:
        (x,) = operands
        inside = r.logical_and(r.greater_equal(x, a_min), r.less_equal(x, a_max))
        return [selected(inside, grads[0])]


def integer_bounds(dtype: str, low: float, high: float) -> tuple[int, int]:
    """The bounds as integers that the dtype holds."""
    least, most = integer_range(dtype)

    def held(bound: float) -> int:
        return least if bound <= least else most if bound >= most else int(bound)

    return held(low), held(high)


@irdl_op_definition
class FullLikeOp(RelayOp, fusion_kind=OpPattern.ELEMWISE):
    """y[i] = fill_value, a tensor of rank 0 of the dtype of x; the shape is that of x."""

    name = "relay.full_like"

    x = operand_def(TensorType)
    fill_value = operand_def(TensorType)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(x: TensorInfo, fill_value: TensorInfo) -> TensorInfo:
        if fill_value.shape or fill_value.dtype != x.dtype:
            raise TypeMismatch(f"fill_value is {fill_value}, expected {TensorInfo((), x.dtype)}")
        return x

    @staticmethod
    def te_compute(x: Tensor, fill_value: Tensor) -> Tensor:
        return te.compute(x.shape, lambda *i: fill_value[()], "full_like")

    @staticmethod
    def np_ref(x: Array, fill_value: Array) -> Array:
        return np.full(x.shape, fill_value, x.dtype)

    @staticmethod
    def samples() -> list[Sample]:
        typed: list[tuple[tuple[int, ...], str]] = [
            ((2, 3, 5), "float32"),
            ((1,), "float32"),
            ((), "float64"),
            ((7,), "int32"),
            ((3, 1), "int64"),
            ((5,), "bool"),
            ((5,), "uint8"),
        ]
        return [
            *(sample((shape, dtype), ((), dtype)) for shape, dtype in typed),
            sample((3,), (1,), error="fill_value is tensor<1xf32>, expected tensor<f32>"),
            sample((3,), ((), "int32"), error="fill_value is tensor<i32>"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [None, r.sum(grads[0])]
