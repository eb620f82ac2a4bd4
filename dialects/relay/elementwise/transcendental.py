"""Elementwise functions on floats: exponential, logarithm, root, trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from math import log
from typing import ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.elements import erf_gradient


@irdl_op_definition
class AcosOp(Elementwise):
    """y = arc cosine of -1..1."""

    name = "relay.acos"
    RANGES: ClassVar[tuple[float, float] | None] = (-1.0, 1.0)

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.acos(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.arccos(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.negative(r.multiply(grads[0], r.rsqrt(r.subtract(1.0, r.multiply(operands[0], operands[0])))))]


@irdl_op_definition
class AcoshOp(Elementwise):
    """y = inverse hyperbolic cosine of x >= 1."""

    name = "relay.acosh"
    RANGES: ClassVar[tuple[float, float] | None] = (1.0, 4.0)

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.acosh(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.arccosh(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.multiply(grads[0], r.rsqrt(r.subtract(r.multiply(operands[0], operands[0]), 1.0)))]


@irdl_op_definition
class AsinOp(Elementwise):
    """y = arc sine of -1..1."""

    name = "relay.asin"
    RANGES: ClassVar[tuple[float, float] | None] = (-1.0, 1.0)

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.asin(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.arcsin(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.multiply(grads[0], r.rsqrt(r.subtract(1.0, r.multiply(operands[0], operands[0]))))]


@irdl_op_definition
class AsinhOp(Elementwise):
    """y = inverse hyperbolic sine."""

    name = "relay.asinh"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.asinh(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.arcsinh(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.multiply(grads[0], r.rsqrt(r.add(r.multiply(operands[0], operands[0]), 1.0)))]


@irdl_op_definition
class AtanOp(Elementwise):
    """y = arc tangent."""

    name = "relay.atan"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.atan(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.arctan(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.divide(grads[0], r.add(r.multiply(operands[0], operands[0]), 1.0))]


@irdl_op_definition
class AtanhOp(Elementwise):
    """y = inverse hyperbolic tangent of -1..1."""

    name = "relay.atanh"
    RANGES: ClassVar[tuple[float, float] | None] = (-0.9, 0.9)

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.atanh(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.arctanh(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.divide(grads[0], r.subtract(1.0, r.multiply(operands[0], operands[0])))]


@irdl_op_definition
class CosOp(Elementwise):
    """y = cosine."""

    name = "relay.cos"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.cos(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.cos(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.negative(r.multiply(grads[0], r.sin(operands[0])))]


@irdl_op_definition
class CoshOp(Elementwise):
    """y = hyperbolic cosine."""

    name = "relay.cosh"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.cosh(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.cosh(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.multiply(grads[0], r.sinh(operands[0]))]


@irdl_op_definition
class ErfOp(Elementwise):
    """y = the error function, 2/sqrt(pi) * integral of exp(-t^2) from 0 to x."""

    name = "relay.erf"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.erf(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.vectorize(math.erf, otypes=[x.dtype])(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [erf_gradient(grads[0], operands[0])]


@irdl_op_definition
class ExpOp(Elementwise):
    """y = e^x."""

    name = "relay.exp"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.exp(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.exp(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.multiply(grads[0], results[0])]


@irdl_op_definition
class LogOp(Elementwise):
    """y = natural logarithm."""

    name = "relay.log"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    RANGES: ClassVar[tuple[float, float] | None] = (0.05, 4.0)

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.log(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.log(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.divide(grads[0], operands[0])]


@irdl_op_definition
class Log10Op(Elementwise):
    """y = logarithm to base 10."""

    name = "relay.log10"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    RANGES: ClassVar[tuple[float, float] | None] = (0.05, 4.0)

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.log10(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.log10(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.divide(grads[0], r.multiply(operands[0], log(10.0)))]


@irdl_op_definition
class Log2Op(Elementwise):
    """y = logarithm to base 2."""

    name = "relay.log2"
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    RANGES: ClassVar[tuple[float, float] | None] = (0.05, 4.0)

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.log2(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.log2(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.divide(grads[0], r.multiply(operands[0], log(2.0)))]


@irdl_op_definition
class RsqrtOp(Elementwise):
    """y = 1 / sqrt(x)."""

    name = "relay.rsqrt"
    RANGES: ClassVar[tuple[float, float] | None] = (0.1, 4.0)

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.rsqrt(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.asarray(1, x.dtype) / np.sqrt(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        (y,) = results
        return [r.multiply(grads[0], r.multiply(r.multiply(y, r.multiply(y, y)), -0.5))]


@irdl_op_definition
class SigmoidOp(Elementwise):
    """y = 1 / (1 + exp(-x))."""

    name = "relay.sigmoid"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return 1.0 / (te.exp(-x) + 1.0)

    @staticmethod
    def np_ref(x: Array) -> Array:
        # Both halves avoid the overflow of exp.
        small = np.exp(-np.abs(x))
        return np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(x.dtype)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        (y,) = results
        return [r.multiply(grads[0], r.multiply(y, r.subtract(1.0, y)))]


@irdl_op_definition
class SinOp(Elementwise):
    """y = sine."""

    name = "relay.sin"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.sin(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.sin(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.multiply(grads[0], r.cos(operands[0]))]


@irdl_op_definition
class SinhOp(Elementwise):
    """y = hyperbolic sine."""

    name = "relay.sinh"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.sinh(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.sinh(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.multiply(grads[0], r.cosh(operands[0]))]


@irdl_op_definition
class SqrtOp(Elementwise):
    """y = square root; NaN below zero."""

    name = "relay.sqrt"
    RANGES: ClassVar[tuple[float, float] | None] = (0.0, 4.0)

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.sqrt(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.sqrt(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.divide(r.multiply(grads[0], 0.5), results[0])]


@irdl_op_definition
class TanOp(Elementwise):
    """y = tangent."""

    name = "relay.tan"
    RANGES: ClassVar[tuple[float, float] | None] = (-1.4, 1.4)

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.tan(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.tan(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.multiply(grads[0], r.add(r.multiply(results[0], results[0]), 1.0))]


@irdl_op_definition
class TanhOp(Elementwise):
    """y = hyperbolic tangent."""

    name = "relay.tanh"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.tanh(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.tanh(x)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [r.multiply(grads[0], r.subtract(1.0, r.multiply(results[0], results[0])))]
