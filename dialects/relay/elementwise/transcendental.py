"""Elementwise functions on floats: exponential, logarithm, root, trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from math import log

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.elements import erf_gradient


@irdl_op_definition
class AcosOp(Elementwise, te_element=lambda x: te.acos(x), np_ref=lambda x: np.arccos(x), ranges=(-1.0, 1.0)):
    """y = arc cosine of -1..1."""

    name = "relay.acos"
    relay_grad = vjp(lambda dy, x, y: r.negative(r.multiply(dy, r.rsqrt(r.subtract(1.0, r.multiply(x, x))))))


@irdl_op_definition
class AcoshOp(Elementwise, te_element=lambda x: te.acosh(x), np_ref=lambda x: np.arccosh(x), ranges=(1.0, 4.0)):
    """y = inverse hyperbolic cosine of x >= 1."""

    name = "relay.acosh"
    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.rsqrt(r.subtract(r.multiply(x, x), 1.0))))


@irdl_op_definition
class AsinOp(Elementwise, te_element=lambda x: te.asin(x), np_ref=lambda x: np.arcsin(x), ranges=(-1.0, 1.0)):
    """y = arc sine of -1..1."""

    name = "relay.asin"
    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.rsqrt(r.subtract(1.0, r.multiply(x, x)))))


@irdl_op_definition
class AsinhOp(Elementwise, te_element=lambda x: te.asinh(x), np_ref=lambda x: np.arcsinh(x)):
    """y = inverse hyperbolic sine."""

    name = "relay.asinh"
    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.rsqrt(r.add(r.multiply(x, x), 1.0))))


@irdl_op_definition
class AtanOp(Elementwise, te_element=lambda x: te.atan(x), np_ref=lambda x: np.arctan(x)):
    """y = arc tangent."""

    name = "relay.atan"
    relay_grad = vjp(lambda dy, x, y: r.divide(dy, r.add(r.multiply(x, x), 1.0)))


@irdl_op_definition
class AtanhOp(Elementwise, te_element=lambda x: te.atanh(x), np_ref=lambda x: np.arctanh(x), ranges=(-0.9, 0.9)):
    """y = inverse hyperbolic tangent of -1..1."""

    name = "relay.atanh"
    relay_grad = vjp(lambda dy, x, y: r.divide(dy, r.subtract(1.0, r.multiply(x, x))))


@irdl_op_definition
class CosOp(Elementwise, te_element=lambda x: te.cos(x), np_ref=lambda x: np.cos(x)):
    """y = cosine."""

    name = "relay.cos"
    relay_grad = vjp(lambda dy, x, y: r.negative(r.multiply(dy, r.sin(x))))


@irdl_op_definition
class CoshOp(Elementwise, te_element=lambda x: te.cosh(x), np_ref=lambda x: np.cosh(x)):
    """y = hyperbolic cosine."""

    name = "relay.cosh"
    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.sinh(x)))


@irdl_op_definition
class ErfOp(Elementwise, precision=Precision.NEVER):
    """y = the error function, 2/sqrt(pi) * integral of exp(-t^2) from 0 to x."""

    name = "relay.erf"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.erf(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.vectorize(math.erf, otypes=[x.dtype])(x)

    relay_grad = vjp(lambda dy, x, y: erf_gradient(dy, x))


@irdl_op_definition
class ExpOp(Elementwise, te_element=lambda x: te.exp(x), np_ref=lambda x: np.exp(x), precision=Precision.NEVER):
    """y = e^x."""

    name = "relay.exp"
    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, y))


@irdl_op_definition
class LogOp(Elementwise, precision=Precision.NEVER, ranges=(0.05, 4.0)):
    """y = natural logarithm."""

    name = "relay.log"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.log(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.log(x)

    relay_grad = vjp(lambda dy, x, y: r.divide(dy, x))


@irdl_op_definition
class Log10Op(Elementwise, precision=Precision.NEVER, ranges=(0.05, 4.0)):
    """y = logarithm to base 10."""

    name = "relay.log10"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.log10(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.log10(x)

    relay_grad = vjp(lambda dy, x, y: r.divide(dy, r.multiply(x, log(10.0))))


@irdl_op_definition
class Log1pOp(
    Elementwise,
    te_element=lambda x: te.log1p(x),
    np_ref=lambda x: np.log1p(x),
    precision=Precision.NEVER,
    ranges=(-0.9, 4.0),
):
    """y = log(1 + x), exact to the last digits also where 1 + x is not."""

    name = "relay.log1p"
    relay_grad = vjp(lambda dy, x, y: r.divide(dy, r.add(x, 1.0)))


@irdl_op_definition
class Log2Op(Elementwise, precision=Precision.NEVER, ranges=(0.05, 4.0)):
    """y = logarithm to base 2."""

    name = "relay.log2"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.log2(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.log2(x)

    relay_grad = vjp(lambda dy, x, y: r.divide(dy, r.multiply(x, log(2.0))))


@irdl_op_definition
class RsqrtOp(Elementwise, ranges=(0.1, 4.0)):
    """y = 1 / sqrt(x)."""

    name = "relay.rsqrt"

    @staticmethod
    def te_element(x: Scalar) -> Scalar:
        return te.rsqrt(x)

    @staticmethod
    def np_ref(x: Array) -> Array:
        return np.asarray(1, x.dtype) / np.sqrt(x)

    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.multiply(r.multiply(y, r.multiply(y, y)), -0.5)))


@irdl_op_definition
class SigmoidOp(Elementwise, te_element=lambda x: 1.0 / (te.exp(-x) + 1.0)):
    """y = 1 / (1 + exp(-x))."""

    name = "relay.sigmoid"

    @staticmethod
    def np_ref(x: Array) -> Array:
        # Both halves avoid the overflow of exp.
        small = np.exp(-np.abs(x))
        return np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(x.dtype)

    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.multiply(y, r.subtract(1.0, y))))


@irdl_op_definition
class SinOp(Elementwise, te_element=lambda x: te.sin(x), np_ref=lambda x: np.sin(x)):
    """y = sine."""

    name = "relay.sin"
    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.cos(x)))


@irdl_op_definition
class SinhOp(Elementwise, te_element=lambda x: te.sinh(x), np_ref=lambda x: np.sinh(x)):
    """y = hyperbolic sine."""

    name = "relay.sinh"
    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.cosh(x)))


@irdl_op_definition
class SqrtOp(Elementwise, te_element=lambda x: te.sqrt(x), np_ref=lambda x: np.sqrt(x), ranges=(0.0, 4.0)):
    """y = square root; NaN below zero."""

    name = "relay.sqrt"
    relay_grad = vjp(lambda dy, x, y: r.divide(r.multiply(dy, 0.5), y))


@irdl_op_definition
class TanOp(Elementwise, te_element=lambda x: te.tan(x), np_ref=lambda x: np.tan(x), ranges=(-1.4, 1.4)):
    """y = tangent."""

    name = "relay.tan"
    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.add(r.multiply(y, y), 1.0)))


@irdl_op_definition
class TanhOp(Elementwise, te_element=lambda x: te.tanh(x), np_ref=lambda x: np.tanh(x)):
    """y = hyperbolic tangent."""

    name = "relay.tanh"
    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.subtract(1.0, r.multiply(y, y))))
