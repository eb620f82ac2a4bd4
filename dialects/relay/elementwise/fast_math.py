"""fast_exp, fast_tanh, fast_erf: polynomials in place of the functions, of a stated accuracy.

The coefficients are those of Cephes (exp) and Eigen (tanh, erf). Narrow floats are computed in f32; f64 has no faster
form and takes the function itself.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.elements import erf_gradient

_EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
_EXP_LIMIT = 88.3762626647949
_TANH = (
    (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08)
    + (1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03),
    (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03),
    9.0,
)
_ERF = (
    (-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05)
    + (-7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02),
    (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03)
    + (-1.42647390514189e-02,),
    4.0,
)


def polynomial(x: Scalar, coefficients: Sequence[float]) -> Scalar:
    """The value of a polynomial, the highest coefficient first."""
    value: Any = te.const(coefficients[0], x.dtype)
    for c in coefficients[1:]:
        value = value * x + c
    return value


def odd_quotient(x: Scalar, form: tuple[Sequence[float], Sequence[float], float]) -> Scalar:
    """x * p(x^2) / q(x^2) within the limit, beyond it the value there."""
    above, below, limit = form
    inner = te.maximum(te.minimum(x, limit), -limit)
    square = inner * inner
    return inner * polynomial(square, above) / polynomial(square, below)


class FastFunction(Elementwise, dtypes=FLOATS):
    """A function that is approximated where it is computed in f32."""

    @staticmethod
    @abc.abstractmethod
    def function(x: Scalar) -> Scalar:
        """The function itself."""

    @staticmethod
    @abc.abstractmethod
    def approximation(x: Scalar) -> Scalar:
        """Of an f32."""

    @classmethod
    def te_element(cls, *elements: Any, **attrs: Any) -> Any:
        (x,) = elements
        if x.dtype == "float64":
            return cls.function(x)
        return te.cast(cls.approximation(te.cast(x, "float32")), x.dtype)


@irdl_op_definition
class FastExpOp(FastFunction, np_ref=lambda x: np.exp(x)):
    """y = e^x by a polynomial: to 5e-7 of the value for |x| < 1, to 5e-6 for |x| < 88; 0 below, 2e38 or more beyond."""

    name = "relay.fast_exp"

    @staticmethod
    def function(x: Scalar) -> Scalar:
        return te.exp(x)

    @staticmethod
    def approximation(x: Scalar) -> Scalar:
        inner = te.maximum(te.minimum(x, _EXP_LIMIT), -_EXP_LIMIT)
        # x = n ln 2 + f: 2^n is made of its bits, e^f is a polynomial.
        n = te.floor(inner * 1.44269504088896341 + 0.5)
        f = inner - n * 0.6931471805599453
        power = te.reinterpret((te.cast(n, "int32") + 127) << 23, "float32")
        return te.maximum(power * (polynomial(f, _EXP) * f * f + f + 1.0), x)

    @classmethod
    def samples(cls) -> list[Sample]:
        def one(shape: tuple[int, ...], dtype: str = "float32", low: float = -2.0, high: float = 2.0) -> Sample:
            return sample((shape, dtype), ranges=((low, high),))

        return [
            one((2, 3, 5)),
            one((1,)),
            one(()),
            one((3, 17), "float32", -20.0, 5.0),
            one((33,), "float32", 80.0, 87.0),
            one((33,), "float32", -87.0, -60.0),
            one((33,), "float32", -1000.0, -110.0),
            one((7, 1), "float64"),
            one((3, 17), "float16"),
            one((5, 3), "bfloat16"),
            sample(((3,), "int32"), error="got int32"),
            sample((2,), (2,), error="takes 1 operand, got 2"),
        ]

    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, y))


@irdl_op_definition
class FastTanhOp(FastFunction, np_ref=lambda x: np.tanh(x)):
    """y = tanh(x) by a quotient of polynomials: to 3e-7."""

    name = "relay.fast_tanh"

    @staticmethod
    def function(x: Scalar) -> Scalar:
        return te.tanh(x)

    @staticmethod
    def approximation(x: Scalar) -> Scalar:
        return odd_quotient(x, _TANH)

    @staticmethod
    def extra_samples() -> list[Sample]:
        return [sample((3, 33), ranges=((-12.0, 12.0),))]

    relay_grad = vjp(lambda dy, x, y: r.multiply(dy, r.subtract(1.0, r.multiply(y, y))))


@irdl_op_definition
class FastErfOp(FastFunction):
    """y = erf(x) by a quotient of polynomials: to 4e-7."""

    name = "relay.fast_erf"

    @staticmethod
    def function(x: Scalar) -> Scalar:
        return te.erf(x)

    @staticmethod
    def approximation(x: Scalar) -> Scalar:
        return odd_quotient(x, _ERF)

    @staticmethod
    def np_ref(x: Array) -> Array:
        from lamina.dialects.relay.elementwise.transcendental import ErfOp

        return ErfOp.np_ref(x)

    @staticmethod
    def extra_samples() -> list[Sample]:
        return [sample((3, 33), ranges=((-6.0, 6.0),))]

    relay_grad = vjp(lambda dy, x, y: erf_gradient(dy, x))
