"""Broadcasting arithmetic of two operands. Comparisons, logic, shifts and `where` are in `logic.py`.

Integer division has results that the hardware leaves undefined: x / 0, and the smallest integer / -1. The equations
replace such divisors before they divide and give what NumPy gives: 0 for x / 0, and the wrapped quotient. The check
that makes a division by zero a run-time error is an op by itself, `relay.check_divisor`.
"""

from __future__ import annotations

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.elements import remainder_gradients


@irdl_op_definition
class AddOp(Broadcast, te_element=lambda a, b: a + b, np_ref=lambda a, b: a + b, commutes=True):
    """y = lhs + rhs; integers wrap."""

    name = "relay.add"

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [collapsed(grads[0], o) for o in operands]


@irdl_op_definition
class SubtractOp(Broadcast, te_element=lambda a, b: a - b, np_ref=lambda a, b: a - b, exact=True):
    """y = lhs - rhs; integers wrap."""

    name = "relay.subtract"

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        a, b = operands
        return [collapsed(grads[0], a), collapsed(r.negative(grads[0]), b)]


@irdl_op_definition
class MultiplyOp(Broadcast, te_element=lambda a, b: a * b, np_ref=lambda a, b: a * b, commutes=True, exact=True):
    """y = lhs * rhs; integers wrap."""

    name = "relay.multiply"

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        a, b = operands
        return [collapsed(r.multiply(grads[0], b), a), collapsed(r.multiply(grads[0], a), b)]


class Division(Broadcast, divides=True):
    """Base of the quotients and remainders."""

    @staticmethod
    def extra_samples() -> list[Sample]:
        """Zero divisors, both signs, and the quotient that overflows."""
        edge = ((-128.0, -128.0), (-1.0, -1.0))
        return [
            sample(((61,), "int32"), ((61,), "int32"), ranges=((-20.0, 20.0), (-3.0, 3.0))),
            sample(((61,), "uint8"), ((61,), "uint8"), ranges=((0.0, 255.0), (0.0, 20.0))),
            sample(((2,), "int8"), ((2,), "int8"), ranges=edge),
            sample((53,), (53,), ranges=((-50.0, 50.0), (-3.0, 3.0))),
        ]


@irdl_op_definition
class DivideOp(Division):
    """y = lhs / rhs; integers divide towards zero (ONNX's Div)."""

    name = "relay.divide"

    @staticmethod
    def te_element(lhs: Scalar, rhs: Scalar) -> Scalar:
        return lhs / rhs if is_float(lhs.dtype) else te.safe_truncdiv(lhs, rhs)

    @staticmethod
    def np_ref(lhs: Array, rhs: Array) -> Array:
        return lhs / rhs if lhs.dtype.kind not in "iu" else truncated_quotient(lhs, rhs)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        a, b = operands
        share = r.divide(grads[0], b)
        return [collapsed(share, a), collapsed(r.negative(r.multiply(share, results[0])), b)]


@irdl_op_definition
class FloorDivideOp(Division):
    """y = floor(lhs / rhs)."""

    name = "relay.floor_divide"

    @staticmethod
    def te_element(lhs: Scalar, rhs: Scalar) -> Scalar:
        return te.floor(lhs / rhs) if is_float(lhs.dtype) else te.safe_floordiv(lhs, rhs)

    @staticmethod
    def np_ref(lhs: Array, rhs: Array) -> Array:
        return np.floor(lhs / rhs) if lhs.dtype.kind not in "iu" else lhs // rhs

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return [None, None]


class Remainder(Division):
    """Base of the remainders, whose gradients are alike."""

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        return remainder_gradients(grads, operands, results)


class TruncatedRemainder(Remainder, np_ref=lambda a, b: np.fmod(a, b)):
    """The remainder of the division towards zero, with the sign of lhs: of two names the one meaning."""

    @staticmethod
    def te_element(lhs: Scalar, rhs: Scalar) -> Scalar:
        return te.fmod(lhs, rhs) if is_float(lhs.dtype) else te.safe_truncmod(lhs, rhs)


@irdl_op_definition
class ModOp(TruncatedRemainder):
    """y = the remainder of the division towards zero, with the sign of lhs (C's fmod)."""

    name = "relay.mod"


@irdl_op_definition
class FloorModOp(Remainder):
    """y = lhs - floor(lhs / rhs) * rhs, with the sign of rhs (numpy.mod)."""

    name = "relay.floor_mod"

    @staticmethod
    def te_element(lhs: Scalar, rhs: Scalar) -> Scalar:
        return te.floor_fmod(lhs, rhs) if is_float(lhs.dtype) else te.safe_floormod(lhs, rhs)

    @staticmethod
    def np_ref(lhs: Array, rhs: Array) -> Array:
        return np.mod(lhs, rhs)


@irdl_op_definition
class PowerOp(Broadcast, precision=Precision.NEVER, dtypes=FLOATS, ranges=((0.1, 3.0), (-2.0, 2.0))):
    """y = lhs ^ rhs of floats; a negative base has values at whole exponents only."""

    name = "relay.power"

    @staticmethod
    def te_element(lhs: Scalar, rhs: Scalar) -> Scalar:
        return te.power(lhs, rhs)

    @staticmethod
    def np_ref(lhs: Array, rhs: Array) -> Array:
        return np.power(lhs, rhs)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        a, b = operands
        (y,) = results
        base = r.multiply(b, r.power(a, r.subtract(b, 1.0)))
        # Of a power of 0 the logarithm has no say: it is 0 near the exponent.
        exponent = r.where(r.greater(a, 0.0), r.multiply(y, r.log(a)), r.multiply(y, 0.0))
        return [collapsed(r.multiply(grads[0], base), a), collapsed(r.multiply(grads[0], exponent), b)]


def truncated_quotient(lhs: Array, rhs: Array) -> Array:
    """lhs / rhs towards zero, in exact integers; 0 for x / 0, and the one quotient that overflows wraps."""
    floored = np.floor_divide(lhs, rhs)
    inexact = (np.mod(lhs, rhs) != 0) & ((lhs < 0) != (rhs < 0))
    return floored + inexact.astype(floored.dtype)
