"""Fixed-point scaling that rounds twice: the high half of a doubled product, then a shift to the right.

These are gemmlowp's two primitives, of which TFLite makes its quantised kernels. With a multiplier m of 31 fractional
bits and a shift n, x m / 2^(31 + n) is computed as rounding_right_shift(rounding_doubling_high_multiply(x, m), n). The
first is what ARM has as one instruction, SQRDMULH.
"""

from __future__ import annotations

from lamina.dialects.relay.declare import *

FRACTION = 31
_MOST = 2**FRACTION - 1


def _high_multiply(a: Scalar, b: Scalar) -> Scalar:
    wide = te.cast(a, "int64") * te.cast(b, "int64") + te.const(1 << (FRACTION - 1), "int64")
    high = te.cast(wide >> FRACTION, "int32")
    # -2^31 is what wraps of the one product that does not fit, that of -2^31 and itself; no other product gives it.
    return te.select(te.equal(high, te.const(-_MOST - 1, "int32")), te.const(_MOST, "int32"), high)


def _high_multiply_ref(a: Array, b: Array) -> Array:
    doubled = a.astype(object) * b.astype(object) * 2
    return np.minimum((doubled + 2**FRACTION) // 2 ** (FRACTION + 1), _MOST).astype(np.int32)


def _right_shift(x: Scalar, bits: Scalar) -> Scalar:
    one = te.const(1, x.dtype)
    below_one = (one << bits) - one
    # What the shift drops, against a half: of a negative number a half goes down, so more than that is needed to go up.
    half = (below_one >> one) + te.select(x < te.const(0, x.dtype), one, te.const(0, x.dtype))
    return (x >> bits) + te.cast((x & below_one) > half, x.dtype)


def _right_shift_ref(x: Array, bits: Array) -> Array:
    wide, places = np.broadcast_arrays(x.astype(object), bits.astype(object))
    units = 2**places
    return (np.sign(wide) * ((2 * abs(wide) + units) // (2 * units))).astype(x.dtype)


@irdl_op_definition
class RoundingDoublingHighMultiplyOp(
    Broadcast, te_element=_high_multiply, np_ref=_high_multiply_ref, dtypes=("int32",), commutes=True
):
    """y = lhs * rhs / 2^31 to the nearest integer, halves up; the only one too large, of twice -2^31, saturates."""

    name = "relay.rounding_doubling_high_multiply"

    @staticmethod
    def extra_samples() -> list[Sample]:
        def one(a: tuple[float, float], b: tuple[float, float]) -> Sample:
            return sample(((37,), "int32"), ((37,), "int32"), ranges=(a, b))

        wide, multiplier, least = (-(2.0**31), 2.0**31 - 1), (2.0**30, 2.0**31 - 1), (-(2.0**31), -(2.0**31))
        return [
            one(wide, multiplier), one(wide, wide), one((-9, 9), multiplier), one(least, least),
            one((-1000, 1000), (2.0**30, 2.0**30)), one(least, multiplier), one((-9, 9), (-9, 9)),
        ]  # fmt: skip


@irdl_op_definition
class RoundingRightShiftOp(
    Broadcast, te_element=_right_shift, np_ref=_right_shift_ref, dtypes=("int32", "int64"),
    ranges=((-(2.0**31), 2.0**31 - 1), (0, 31)),
):  # fmt: skip
    """y = lhs / 2^rhs to the nearest integer, halves away from zero; rhs in 0 .. 31."""

    name = "relay.rounding_right_shift"

    @staticmethod
    def extra_samples() -> list[Sample]:
        def one(a: tuple[float, float], bits: tuple[float, float]) -> Sample:
            return sample(((37,), "int32"), ((37,), "int32"), ranges=(a, bits))

        return [
            one((-40, 40), (0, 4)), one((-40, 40), (1, 1)), one((-(2.0**31), -(2.0**31)), (0, 31)),
            one((2.0**31 - 1, 2.0**31 - 1), (0, 31)), one((-40, 40), (31, 31)), one((-9, 9), (0, 0)),
        ]  # fmt: skip
