"""Functions of quantised tensors: the real function of (x - zero_point) * scale, quantised to the output's scale.

It is computed in f64 and rounded once, halves away from zero, so that the result does not hang on how a function of f32
is approximated; outside of the function's domain it is the output's zero point. A dtype of 8 bits has 256 values: the
op is a look-up in their table, which folds when the scales are constants. Results have the dtype of the operand.
"""

from __future__ import annotations

import abc
import math
from typing import Any

from lamina.dialects.dtypes import integer_range
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.qnn import scales as qs


class QnnUnary(Opaque):
    """One quantised tensor and a function on the reals."""

    x = operand_def()
    scale = operand_def()
    zero_point = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()

    @staticmethod
    @abc.abstractmethod
    def of_value(x: Any) -> Any:
        """The function, of an f64 value."""

    @staticmethod
    @abc.abstractmethod
    def of_array(x: Array) -> Array:
        """The function, of an f64 array."""

    @staticmethod
    def infer_type(x: TensorInfo, *scales: TensorInfo) -> TensorInfo:
        dtype = qs.check_quantized("x", x)
        qs.check_scales("input output", scales)
        return TensorInfo(x.shape, dtype)

    @classmethod
    def decompose(cls, x: SSAValue, *scales: SSAValue) -> Any:
        dtype = qs.info_of(x).dtype
        if dtype not in qs.NARROW:
            return cls.quantised(x, scales, dtype)
        low, high = integer_range(dtype)
        made = r.arange.op.make(start=float(low), stop=float(high + 1), dtype="int32")
        table = cls.quantised(made.results[0], scales, dtype)
        place = r.cast(x, dtype="int32")
        return r.take(table, r.subtract(place, low) if low else place)

    @classmethod
    def quantised(cls, x: SSAValue, scales: tuple[SSAValue, ...], dtype: str) -> Any:
        """The function of each element by itself."""
        scale, zero_point, output_scale, output_zero_point = (qs.along(s, 0, 0) for s in scales)
        centred = qs.cast(qs.centred(x, zero_point, 0, "int64"), "float64")
        y = cls.of_value(r.multiply(centred, qs.cast(scale, "float64")))
        zero = qs.cast(output_zero_point, "float64")
        scaled = r.add(r.divide(y, qs.cast(output_scale, "float64")), zero)
        low, high = integer_range(dtype)
        known = r.where(r.isnan(scaled), zero, qs.rounded(scaled))
        return r.cast(r.clip(known, a_min=float(low), a_max=float(high)), dtype=dtype)

    @classmethod
    def np_ref(cls, x: Array, scale: Array, zero_point: Array, output_scale: Array, output_zero_point: Array) -> Array:
        one, zero, out = (a.reshape(()).astype(np.float64) for a in (scale, output_zero_point, output_scale))
        real = qs.ref_centred(x, zero_point).astype(np.float64) * one
        scaled = cls.of_array(real) / out + zero
        known = np.where(np.isnan(scaled), zero, qs.ref_rounded(scaled))
        return np.clip(known, *integer_range(x.dtype.name)).astype(x.dtype)

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], dtype: str = "int8", scale: float = 0.03, one_more: bool = False) -> Sample:
            low, high = (max(v, -999) if v < 0 else min(v, 999) for v in integer_range(dtype))
            number = (1,) if one_more else ()
            return sample(
                (shape, dtype), number, (number, "int32"), number, (number, "int32"),
                ranges=((low, high), (scale, 2 * scale), (-20, 20), (0.005, 0.05), (-20, 20)),
            )  # fmt: skip

        return [
            one((2, 3, 5)), one((), "uint8"), one((1,)), one((300,)), one((300,), "uint8", 0.01, True),
            one((33,), "int16", 0.002), one((7, 3), "int32", 0.002), one((4, 1, 9), "uint8", 0.1),
            sample((3,), (), ((), "int32"), (), ((), "int32"), error="x is float32, expects int8"),
            sample(((3,), "int8"), (3,), ((), "int32"), (), ((), "int32"), error="input_scale has shape (3,)"),
            sample(((3,), "int8"), (), ((), "int32"), (), (), error="output_zero_point is float32, expects int32"),
        ]  # fmt: skip


@irdl_op_definition
class QnnAbsOp(QnnUnary):
    """The absolute value of a quantised tensor."""

    name = "relay.qnn.abs"

    @staticmethod
    def of_value(x: Any) -> Any:
        return r.abs(x)

    @staticmethod
    def of_array(x: Array) -> Array:
        return np.abs(x)


@irdl_op_definition
class QnnErfOp(QnnUnary):
    """The error function of a quantised tensor."""

    name = "relay.qnn.erf"

    @staticmethod
    def of_value(x: Any) -> Any:
        return r.erf(x)

    @staticmethod
    def of_array(x: Array) -> Array:
        return np.vectorize(math.erf, otypes=[np.float64])(x)


@irdl_op_definition
class QnnExpOp(QnnUnary):
    """The exponential of a quantised tensor."""

    name = "relay.qnn.exp"

    @staticmethod
    def of_value(x: Any) -> Any:
        return r.exp(x)

    @staticmethod
    def of_array(x: Array) -> Array:
        return np.exp(x)


@irdl_op_definition
class QnnHardswishOp(QnnUnary):
    """x * min(max(x + 3, 0), 6) / 6 of a quantised tensor."""

    name = "relay.qnn.hardswish"

    @staticmethod
    def of_value(x: Any) -> Any:
        return r.divide(r.multiply(x, r.clip(r.add(x, 3), a_min=0.0, a_max=6.0)), 6)

    @staticmethod
    def of_array(x: Array) -> Array:
        return x * np.minimum(np.maximum(x + 3, 0), 6) / 6


@irdl_op_definition
class QnnLogOp(QnnUnary):
    """The natural logarithm of a quantised tensor; that of 0 saturates."""

    name = "relay.qnn.log"

    @staticmethod
    def of_value(x: Any) -> Any:
        return r.log(x)

    @staticmethod
    def of_array(x: Array) -> Array:
        return np.log(x)


@irdl_op_definition
class QnnRsqrtOp(QnnUnary):
    """1 / sqrt(x) of a quantised tensor; that of 0 saturates."""

    name = "relay.qnn.rsqrt"

    @staticmethod
    def of_value(x: Any) -> Any:
        return r.divide(number(1.0, x), r.sqrt(x))

    @staticmethod
    def of_array(x: Array) -> Array:
        return 1.0 / np.sqrt(x)


@irdl_op_definition
class QnnSigmoidOp(QnnUnary):
    """1 / (1 + exp(-x)) of a quantised tensor."""

    name = "relay.qnn.sigmoid"

    @staticmethod
    def of_value(x: Any) -> Any:
        return r.sigmoid(x)

    @staticmethod
    def of_array(x: Array) -> Array:
        return 1.0 / (1.0 + np.exp(-x))


@irdl_op_definition
class QnnSqrtOp(QnnUnary):
    """The square root of a quantised tensor."""

    name = "relay.qnn.sqrt"

    @staticmethod
    def of_value(x: Any) -> Any:
        return r.sqrt(x)

    @staticmethod
    def of_array(x: Array) -> Array:
        return np.sqrt(x)


@irdl_op_definition
class QnnTanhOp(QnnUnary, fusion_kind=OpPattern.ELEMWISE):
    """The hyperbolic tangent of a quantised tensor."""

    name = "relay.qnn.tanh"

    @staticmethod
    def of_value(x: Any) -> Any:
        return r.tanh(x)

    @staticmethod
    def of_array(x: Array) -> Array:
        return np.tanh(x)
