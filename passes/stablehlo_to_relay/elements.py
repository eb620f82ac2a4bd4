"""Equations of StableHLO's ops on elements.

Before: %0 = stablehlo.exponential %x : tensor<8xf32>
After:  %0 = relay.exp %x : tensor<8xf32>
"""

from __future__ import annotations

from math import pi
from typing import Any

from xdsl.ir import Operation, SSAValue

from lamina.dialects import relay as r
from lamina.dialects import stablehlo as s
from lamina.dialects.dtypes import is_float, itemsize
from lamina.dialects.rules.terms import attr, computed, splat, var
from lamina.passes.rules.rewriting import Rules
from lamina.passes.stablehlo_to_relay.emit import dtype_of, known_number

x, y, low, high, flag = var("x y low high flag")
p, q, steps = attr("p q steps")

elements = Rules("stablehlo-to-relay")

# -- one operand ------------------------------------------------------------------------------------

elements += s.abs(x) >> r.abs(x)
elements += s.cbrt(x) >> r.multiply(r.sign(x), r.power(r.abs(x), splat(1 / 3, like=x)))
elements += s.ceil(x) >> r.ceil(x)
elements += s.cosine(x) >> r.cos(x)
elements += s.exponential(x) >> r.exp(x)
elements += s.floor(x) >> r.floor(x)
elements += s.is_finite(x) >> r.isfinite(x)
elements += s.log(x) >> r.log(x)
elements += s.log_plus_one(x) >> r.log1p(x)
elements += s.logistic(x) >> r.sigmoid(x)
elements += s.negate(x) >> r.negative(x)
elements += s.not_(x) >> r.bitwise_not(x)
elements += s.not_(x) >> r.logical_not(x)
elements += s.round_nearest_even(x) >> r.round(x)
elements += s.rsqrt(x) >> r.rsqrt(x)
elements += s.sign(x) >> r.sign(x)
elements += s.sine(x) >> r.sin(x)
elements += s.sqrt(x) >> r.sqrt(x)
elements += s.tan(x) >> r.tan(x)
elements += s.tanh(x) >> r.tanh(x)

# -- two operands -----------------------------------------------------------------------------------

elements += s.add(x, y) >> r.add(x, y)
elements += s.add(x, y) >> r.logical_or(x, y)
elements += s.and_(x, y) >> r.bitwise_and(x, y)
elements += s.or_(x, y) >> r.bitwise_or(x, y)
elements += s.xor(x, y) >> r.bitwise_xor(x, y)


@elements.lower(s.maximum)
def maximum_with_the_lowest(op: Operation) -> SSAValue | None:
    """Before: %0 = stablehlo.maximum %low, %x : tensor<8xf32>, where %low is -infinity, as JAX begins a softmax
    After:  %x
    """
    for bound, other in ((0, 1), (1, 0)):
        if is_float(dtype_of(op.operands[bound])) and known_number(op.operands[bound]) == float("-inf"):
            return op.operands[other]
    return None


elements += s.maximum(x, y) >> r.maximum(x, y)
elements += s.maximum(x, y) >> r.logical_or(x, y)
elements += s.minimum(x, y) >> r.minimum(x, y)
elements += s.minimum(x, y) >> r.logical_and(x, y)
elements += s.multiply(x, y) >> r.multiply(x, y)
elements += s.multiply(x, y) >> r.logical_and(x, y)
elements += s.power(x, y) >> r.power(x, y)
elements += s.subtract(x, y) >> r.subtract(x, y)


@computed
def of_floats(dtype: str) -> bool:
    """Whether elements are floats."""
    return is_float(dtype)


@computed
def of_integers(dtype: str) -> bool:
    """Whether elements are integers, or booleans."""
    return not is_float(dtype)


@computed
def as_wide(dtype: str) -> str:
    """The integers that have the bits of floats."""
    return f"int{8 * itemsize(dtype)}"


elements += (s.divide(x, y) >> r.divide(x, y)).when(of_floats(x.dtype))
elements += (s.divide(x, y) >> r.trunc_divide(x, y)).when(of_integers(x.dtype))
elements += s.remainder(x, y) >> r.trunc_mod(x, y)
elements += s.shift_left(x, y) >> r.left_shift(x, y)
elements += s.shift_right_arithmetic(x, y) >> r.right_shift(x, y)

# Near 0 the difference e^x - 1 has no digits left: it is 2 t / (1 - t) of t = tanh(x / 2).
half = r.tanh(r.multiply(x, splat(0.5, like=x)))
near = r.divide(r.multiply(half, splat(2.0, like=x)), r.subtract(splat(1.0, like=x), half))
elements += s.exponential_minus_one(x) >> r.where(
    r.less(r.abs(x), splat(1.0, like=x)), near, r.subtract(r.exp(x), splat(1.0, like=x))
)

# Halves away from 0: what is left of the magnitude decides.
whole = r.floor(r.abs(x))
up = r.add(whole, splat(1.0, like=x))
away = r.where(r.less(r.subtract(r.abs(x), whole), splat(0.5, like=x)), whole, up)
elements += s.round_nearest_afz(x) >> r.where(r.isinf(x), x, r.multiply(r.sign(x), away))

# The angle of (y, x): that of the quotient, turned by pi where y is negative; of zeros by their signs.


def is_negative(v: Any) -> Any:
    """Whether a number has the sign of minus, as -0 has."""
    return r.less(r.reinterpret(v, dtype=as_wide(v.dtype)), 0)


ratio = r.divide(r.abs(x), r.abs(y))
both = r.logical_and(r.isinf(x), r.isinf(y))
none = r.logical_and(r.equal(x, splat(0.0, like=x)), r.equal(y, splat(0.0, like=x)))
acute = r.where(both, splat(pi / 4, like=x), r.where(none, splat(0.0, like=x), r.atan(ratio)))
angle = r.where(is_negative(y), r.subtract(splat(pi, like=x), acute), acute)
signed = r.where(is_negative(x), r.negative(angle), angle)
elements += s.atan2(x, y) >> r.where(r.logical_or(r.isnan(x), r.isnan(y)), r.add(x, y), signed)

# -- choices ----------------------------------------------------------------------------------------

elements += s.select(flag, x, y) >> r.where(flag, x, y)
elements += s.clamp(low, x, high) >> r.minimum(r.maximum(x, low), high)

# -- functions of CHLO ------------------------------------------------------------------------------

elements += s.chlo_acos(x) >> r.acos(x)
elements += s.chlo_acosh(x) >> r.acosh(x)
elements += s.chlo_asin(x) >> r.asin(x)
elements += s.chlo_asinh(x) >> r.asinh(x)
elements += s.chlo_atan(x) >> r.atan(x)
elements += s.chlo_atanh(x) >> r.atanh(x)
elements += s.chlo_cosh(x) >> r.cosh(x)
elements += s.chlo_erf(x) >> r.erf(x)
elements += s.chlo_erfc(x) >> r.subtract(splat(1.0, like=x), r.erf(x))
elements += s.chlo_is_inf(x) >> r.isinf(x)
elements += s.chlo_is_neg_inf(x) >> r.equal(x, splat(float("-inf"), like=x))
elements += s.chlo_is_pos_inf(x) >> r.equal(x, splat(float("inf"), like=x))
elements += s.chlo_sinh(x) >> r.sinh(x)
elements += s.chlo_square(x) >> r.multiply(x, x)
elements += s.chlo_tan(x) >> r.tan(x)

# -- elements moved ---------------------------------------------------------------------------------

elements += s.transpose(x, permutation=p) >> r.transpose(x, axes=p)
elements += s.slice(x, start_indices=p, limit_indices=q, strides=steps) >> r.strided_slice(
    x, begin=p, end=q, strides=steps, axes=(), slice_mode="end"
)
