"""Elementwise arithmetic, comparison and logic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lamina.dialects import relay as r
from lamina.dialects.dtypes import is_float
from lamina.dialects.rules.terms import attr, computed, var
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.equations import AtenTable, Promotion, aten
from lamina.frontends.aten.graph import DType, Other
from lamina.frontends.aten.promotion import result_type
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

x, y, z = var("x y z")
a = attr("a")

same = AtenTable(Promotion.SAME)
floats = AtenTable(Promotion.FLOAT)
truths = AtenTable(Promotion.TRUTH)


@computed
def is_integer(dtype: str) -> bool:
    """Whether a type is one of whole numbers, or of truths."""
    return not is_float(dtype)


@computed
def is_bool(dtype: str) -> bool:
    """Whether a type is that of truths."""
    return dtype == "bool"


# -- functions of real numbers ---------------------------------------------------------------------

floats += aten.acos(x) >> r.acos(x)
floats += aten.acosh(x) >> r.acosh(x)
floats += aten.asin(x) >> r.asin(x)
floats += aten.asinh(x) >> r.asinh(x)
floats += aten.atan(x) >> r.atan(x)
floats += aten.atanh(x) >> r.atanh(x)
floats += aten.cos(x) >> r.cos(x)
floats += aten.cosh(x) >> r.cosh(x)
floats += aten.erf(x) >> r.erf(x)
floats += aten.erfc(x) >> 1.0 - r.erf(x)
floats += aten.exp(x) >> r.exp(x)
floats += aten.exp2(x) >> r.power(2.0, x)
floats += aten.log(x) >> r.log(x)
floats += aten.log10(x) >> r.log10(x)
floats += aten.log1p(x) >> r.log1p(x)
floats += aten.log2(x) >> r.log2(x)
floats += aten.reciprocal(x) >> 1.0 / x
floats += aten.rsqrt(x) >> r.rsqrt(x)
floats += aten.sigmoid(x) >> r.sigmoid(x)
floats += aten.sin(x) >> r.sin(x)
floats += aten.sinh(x) >> r.sinh(x)
floats += aten.sqrt(x) >> r.sqrt(x)
floats += aten.tan(x) >> r.tan(x)
floats += aten.tanh(x) >> r.tanh(x)
floats += aten.deg2rad(x) >> x * (math.pi / 180)
floats += aten.rad2deg(x) >> x * (180 / math.pi)
floats += aten.true_divide(x, y) >> x / y
floats += aten.div(x, y, rounding_mode=None) >> x / y

# -- arithmetic ------------------------------------------------------------------------------------

same += (aten.abs(x) >> x).when(is_bool(x.dtype))
same += aten.abs(x) >> r.abs(x)
same += aten.neg(x) >> r.negative(x)
same += aten.positive(x) >> x
same += aten.square(x) >> x * x
same += (aten.ceil(x) >> x).when(is_integer(x.dtype))
same += aten.ceil(x) >> r.ceil(x)
same += (aten.floor(x) >> x).when(is_integer(x.dtype))
same += aten.floor(x) >> r.floor(x)
same += (aten.trunc(x) >> x).when(is_integer(x.dtype))
same += aten.trunc(x) >> r.trunc(x)
same += (aten["round.default"](x) >> x).when(is_integer(x.dtype))
same += aten["round.default"](x) >> r.round(x)
same += (aten.sgn(x) >> x).when(is_bool(x.dtype))
same += aten.sgn(x) >> r.sign(x)
same += (aten.sign(x) >> x).when(is_bool(x.dtype))
same += aten.sign(x) >> r.sign(x)
same += aten.frac(x) >> x - r.trunc(x)
same += (aten.add(x, y, alpha=1) >> r.logical_or(x, y)).when(is_bool(x.dtype))
same += aten.add(x, y, alpha=1) >> x + y
same += aten.sub(x, y, alpha=1) >> x - y
same += aten.rsub(x, y, alpha=1) >> y - x
same += (aten.mul(x, y) >> r.logical_and(x, y)).when(is_bool(x.dtype))
same += aten.mul(x, y) >> x * y
same += (aten.maximum(x, y) >> r.logical_or(x, y)).when(is_bool(x.dtype))
same += aten.maximum(x, y) >> r.maximum(x, y)
same += (aten.minimum(x, y) >> r.logical_and(x, y)).when(is_bool(x.dtype))
same += aten.minimum(x, y) >> r.minimum(x, y)
same += aten.fmod(x, y) >> r.mod(x, y)
same += aten.remainder(x, y) >> r.floor_mod(x, y)
same += aten.floor_divide(x, y) >> r.floor_divide(x, y)
same += aten.div(x, y, rounding_mode="floor") >> r.floor_divide(x, y)
same += aten.div(x, y, rounding_mode="trunc") >> r.trunc_divide(x, y)
same += aten.lerp(x, y, z) >> x + z * (y - x)

# -- bits and truth --------------------------------------------------------------------------------

same += (aten.bitwise_and(x, y) >> r.logical_and(x, y)).when(is_bool(x.dtype))
same += aten.bitwise_and(x, y) >> r.bitwise_and(x, y)
same += (aten.bitwise_or(x, y) >> r.logical_or(x, y)).when(is_bool(x.dtype))
same += aten.bitwise_or(x, y) >> r.bitwise_or(x, y)
same += (aten.bitwise_xor(x, y) >> r.logical_xor(x, y)).when(is_bool(x.dtype))
same += aten.bitwise_xor(x, y) >> r.bitwise_xor(x, y)
same += (aten.bitwise_not(x) >> r.logical_not(x)).when(is_bool(x.dtype))
same += aten.bitwise_not(x) >> r.bitwise_not(x)
truths += aten.logical_and(x, y) >> r.logical_and(x, y)
truths += aten.logical_or(x, y) >> r.logical_or(x, y)
truths += aten.logical_xor(x, y) >> r.logical_xor(x, y)
truths += aten.logical_not(x) >> r.logical_not(x)
same += aten.eq(x, y) >> r.equal(x, y)
same += aten.ne(x, y) >> r.not_equal(x, y)
same += aten.lt(x, y) >> r.less(x, y)
same += aten.le(x, y) >> r.less_equal(x, y)
same += aten.gt(x, y) >> r.greater(x, y)
same += aten.ge(x, y) >> r.greater_equal(x, y)
same += (aten.isnan(x) >> r.not_equal(x, x)).when(is_integer(x.dtype))
same += aten.isnan(x) >> r.isnan(x)
same += (aten.isinf(x) >> r.not_equal(x, x)).when(is_integer(x.dtype))
same += aten.isinf(x) >> r.isinf(x)
same += (aten.isfinite(x) >> r.equal(x, x)).when(is_integer(x.dtype))
same += aten.isfinite(x) >> r.isfinite(x)


@aten_op("add", "sub", "rsub")
def scaled_sum(b: AtenBuilder, self: Any, other: Any, alpha: Any = 1) -> Value:
    """x + alpha y, x - alpha y, y - alpha x."""
    x, y = b.common(self, other)
    assert b.call is not None
    if b.call.packet == "rsub":
        x, y = y, x
    y = b.mul(y, b.number(alpha, "alpha"))
    return b.add(x, y) if b.call.packet == "add" else b.sub(x, y)


@aten_op("expm1", "special_expm1")
def expm1(b: AtenBuilder, self: Value) -> Value:
    """exp(x) - 1, near 0 as 2 t / (1 - t) of t = tanh(x / 2): a difference has no digits left there."""
    (x,) = b.floats(self)
    t = b.op("tanh", b.mul(x, 0.5))
    near = b.div(b.mul(t, 2.0), b.sub(b.tensor(1.0, x.dtype), t))
    return b.choose(b.one("less", b.op("abs", x), 1.0), near, b.sub(b.op("exp", x), 1.0))


@aten_op("round.decimals")
def round_decimals(b: AtenBuilder, self: Value, decimals: int = 0) -> Value:
    if not is_float(self.dtype):
        return self
    scale = 10.0 ** abs(decimals)
    if decimals < 0:
        return b.mul(b.op("round", b.div(self, scale)), scale)
    return b.div(b.op("round", b.mul(self, scale)), scale)


@aten_op("atan2", "arctan2")
def atan2(b: AtenBuilder, self: Value, other: Value) -> Value:
    """The angle of (x, y): that of the quotient, turned by pi where x is negative; of zeros by their signs."""
    y, x = b.floats(self, other)
    ratio = b.div(b.op("abs", y), b.op("abs", x))
    both = b.op("logical_and", b.op("isinf", x), b.op("isinf", y))
    none = b.op("logical_and", b.one("equal", x, 0.0), b.one("equal", y, 0.0))
    acute = b.choose(both, math.pi / 4, b.choose(none, 0.0, b.op("atan", ratio)))
    angle = b.choose(_is_negative(b, x), b.sub(b.tensor(math.pi, x.dtype), acute), acute)
    signed = b.choose(_is_negative(b, y), b.op("negative", angle), angle)
    nan = b.op("logical_or", b.op("isnan", x), b.op("isnan", y))
    return b.choose(nan, b.add(x, y), signed)


def _is_negative(b: AtenBuilder, x: Value) -> Value:
    """Whether a number has the sign of minus, as -0 has."""
    whole = {"float16": "int16", "bfloat16": "int16", "float32": "int32", "float64": "int64"}[x.dtype]
    bits = b.op("reinterpret", x, dtype=whole)
    return b.op("less", bits, b.scalar(0, bits))


@aten_op("signbit")
def signbit(b: AtenBuilder, self: Value) -> Value:
    if is_float(self.dtype):
        return _is_negative(b, self)
    return b.one("less", b.tensor(self, "int64") if self.dtype == "bool" else self, 0)


@aten_op("copysign")
def copysign(b: AtenBuilder, self: Value, other: Any) -> Value:
    x, y = b.floats(self, other)
    size = b.op("abs", x)
    return b.choose(_is_negative(b, y), b.op("negative", size), size)


@aten_op("isposinf", "isneginf")
def infinite_of_sign(b: AtenBuilder, self: Value) -> Value:
    (x,) = b.floats(self)
    assert b.call is not None
    return b.one("equal", x, math.inf if b.call.packet == "isposinf" else -math.inf)


@aten_op("fmax", "fmin")
def extreme_of_numbers(b: AtenBuilder, self: Value, other: Value) -> Value:
    """The greater (less) of two; where one is no number, the other."""
    x, y = b.common(self, other)
    assert b.call is not None
    most = b.op("maximum" if b.call.packet == "fmax" else "minimum", x, y)
    if not is_float(x.dtype):
        return most
    return b.choose(b.op("isnan", x), y, b.choose(b.op("isnan", y), x, most))


@aten_op("nan_to_num")
def nan_to_num(b: AtenBuilder, self: Value, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Value:
    if not is_float(self.dtype):
        return self
    most = float(np.finfo("float32" if self.dtype == "bfloat16" else self.dtype).max)
    if self.dtype == "bfloat16":
        most = 3.3895313892515355e38
    x = b.choose(b.op("isnan", self), 0.0 if nan is None else nan, self)
    x = b.choose(b.one("equal", self, math.inf), most if posinf is None else posinf, x)
    return b.choose(b.one("equal", self, -math.inf), -most if neginf is None else neginf, x)


@aten_op("addcmul", "addcdiv")
def add_product(b: AtenBuilder, self: Value, tensor1: Value, tensor2: Value, value: Any = 1) -> Value:
    """x + value * y * z, or y / z."""
    x, y, z = b.common(self, tensor1, tensor2)
    assert b.call is not None
    term = b.mul(y, z) if b.call.packet == "addcmul" else b.div(y, z)
    return b.add(x, term if value == 1 else b.mul(term, value))


@aten_op("pow", "float_power")
def power(b: AtenBuilder, self: Any, exponent: Any) -> Value:
    """Small whole powers are products, which are exact; of integers all are."""
    assert b.call is not None
    dtype = "float64" if b.call.packet == "float_power" else result_type((self, exponent))
    constant = exponent.array if isinstance(exponent, Value) and not exponent.rank else exponent
    number = None if constant is None or isinstance(constant, Value) else float(constant)
    x = b.tensor(self, dtype)
    if number is not None and number == int(number) and (0 <= number <= 4 or number > 0 and not is_float(dtype)):
        return _whole_power(b, x, int(number))
    if is_float(dtype):
        if number == 0.5:
            return b.op("sqrt", x)
        if number in (-1.0, -0.5):
            return b.div(b.tensor(1.0, dtype), x) if number == -1.0 else b.op("rsqrt", x)
        return b.op("power", x, b.tensor(exponent, dtype))
    return _integer_power(b, x, b.tensor(exponent, dtype))


def _whole_power(b: AtenBuilder, x: Value, exponent: int) -> Value:
    result: Value | None = None
    while exponent:
        if exponent & 1:
            result = x if result is None else b.mul(result, x)
        exponent >>= 1
        if exponent:
            x = b.mul(x, x)
    return b.filled(1, x.shape, x.dtype) if result is None else result


def _integer_power(b: AtenBuilder, x: Value, exponent: Value) -> Value:
    """By squares; a negative power of an integer is 0, or that of 1 and -1."""
    bits = np.dtype(x.dtype).itemsize * 8
    result, square, left = b.filled(1, x.shape, x.dtype), x, b.one("maximum", exponent, 0)
    for _ in range(min(bits, 64) - 1):
        odd = b.one("equal", b.one("bitwise_and", left, 1), 1)
        result = b.choose(odd, b.mul(result, square), result)
        square, left = b.mul(square, square), b.one("right_shift", left, 1)
    if x.dtype.startswith("uint"):
        return result
    odd = b.one("equal", b.one("bitwise_and", exponent, 1), 1)
    unit = b.choose(
        b.one("equal", x, 1), 1, b.choose(b.one("equal", x, -1), b.choose(odd, b.tensor(-1, x.dtype), 1), 0)
    )
    return b.choose(b.one("less", exponent, 0), unit, result)


@aten_op("clamp", "clip")
def clamp(b: AtenBuilder, self: Value, min: Any = None, max: Any = None) -> Value:
    """The upper bound wins where they cross."""
    dtype = result_type((self, min, max))
    x = b.tensor(self, dtype)
    numbers = [v for v in (min, max) if isinstance(v, (int, float))]
    if len(numbers) == 2 and is_float(dtype) and numbers[0] <= numbers[1] and all(map(math.isfinite, numbers)):
        return b.op("clip", x, a_min=float(numbers[0]), a_max=float(numbers[1]))
    if min is not None:
        x = b.op("maximum", x, b.tensor(min, dtype))
    return x if max is None else b.op("minimum", x, b.tensor(max, dtype))


@aten_op("clamp_min", "clamp_max")
def clamp_one(b: AtenBuilder, self: Value, bound: Any) -> Value:
    x, limit = b.common(self, bound)
    assert b.call is not None
    return b.op("maximum" if b.call.packet == "clamp_min" else "minimum", x, limit)


@aten_op("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(b: AtenBuilder, condition: Value, self: Any, other: Any) -> Value:
    x, y = b.common(self, other)
    return b.op("where", b.tensor(condition, "bool"), x, y)


@aten_op("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__")
def shift(b: AtenBuilder, self: Any, other: Any) -> Value:
    x, y = b.common(self, other)
    assert b.call is not None
    left = b.call.packet in ("bitwise_left_shift", "__lshift__")
    bits = np.dtype(x.dtype).itemsize * 8
    moved = b.op("left_shift" if left else "right_shift", x, b.op("minimum", y, b.scalar(bits - 1, y)))
    beyond = b.one("greater_equal", y, bits)
    rest: Any = 0 if left or x.dtype.startswith("uint") else b.choose(b.one("less", x, 0), b.tensor(-1, x.dtype), 0)
    return b.choose(beyond, rest, moved)


@aten_op("__and__", "__or__", "__xor__")
def bits(b: AtenBuilder, self: Any, other: Any) -> Value:
    x, y = b.common(self, other)
    assert b.call is not None
    kind = b.call.packet.strip("_")
    return b.op(f"logical_{kind}" if x.dtype == "bool" else f"bitwise_{kind}", x, y)


@aten_op("gcd")
def gcd(b: AtenBuilder, self: Value, other: Value) -> Value:
    """Euclid's steps, as many as the greatest numbers of the type may need."""
    x, y = (b.op("abs", v) for v in b.common(self, other))
    steps = int(np.dtype(x.dtype).itemsize * 8 * 1.45)
    for _ in range(steps):
        ends = b.one("equal", y, 0)
        rest = b.op("floor_mod", x, b.choose(ends, 1, y))
        x, y = b.choose(ends, x, y), b.choose(ends, y, rest)
    return x


@aten_op("hypot")
def hypot(b: AtenBuilder, self: Value, other: Value) -> Value:
    """sqrt(x^2 + y^2) without overflow on the way."""
    x, y = (b.op("abs", v) for v in b.floats(self, other))
    most, least = b.op("maximum", x, y), b.op("minimum", x, y)
    flat = b.op("logical_or", b.one("equal", most, 0.0), b.op("isinf", most))
    ratio = b.div(least, b.choose(flat, 1.0, most))
    return b.choose(flat, most, b.mul(most, b.op("sqrt", b.add(b.mul(ratio, ratio), 1.0))))


@aten_op("logaddexp", "logaddexp2")
def logaddexp(b: AtenBuilder, self: Value, other: Value) -> Value:
    """log(exp(x) + exp(y)), the greater one taken out."""
    x, y = b.floats(self, other)
    assert b.call is not None
    two = b.call.packet == "logaddexp2"
    most = b.op("maximum", x, y)
    apart = b.op("negative", b.op("abs", b.sub(x, y)))
    tail = b.op("power", b.tensor(2.0, x.dtype), apart) if two else b.op("exp", apart)
    more = b.op("log1p", tail)
    total = b.add(most, b.mul(more, 1 / math.log(2)) if two else more)
    return b.choose(b.op("logical_and", b.op("isinf", x), b.op("equal", x, y)), x, total)


@aten_op("xlogy", "special_xlogy", "special_xlog1py")
def xlogy(b: AtenBuilder, self: Any, other: Any) -> Value:
    """x log(y), 0 where x is 0 and y a number."""
    x, y = b.floats(self, other)
    assert b.call is not None
    product = b.mul(x, b.op("log1p" if b.call.packet == "special_xlog1py" else "log", y))
    none = b.op("logical_and", b.one("equal", x, 0.0), b.op("logical_not", b.op("isnan", y)))
    return b.choose(none, 0.0, product)


@aten_op("logit", "special_logit")
def logit(b: AtenBuilder, self: Value, eps: Any = None) -> Value:
    (x,) = b.floats(self)
    if eps is not None:
        x = b.op("minimum", b.op("maximum", x, b.scalar(eps, x)), b.scalar(1 - eps, x))
    return b.op("log", b.div(x, b.sub(b.tensor(1.0, x.dtype), x)))


@aten_op("sinc", "special_sinc")
def sinc(b: AtenBuilder, self: Value) -> Value:
    (x,) = b.floats(self)
    angle = b.mul(x, math.pi)
    none = b.one("equal", x, 0.0)
    return b.choose(none, 1.0, b.div(b.op("sin", angle), b.choose(none, 1.0, angle)))


@aten_op("heaviside")
def heaviside(b: AtenBuilder, self: Value, values: Value) -> Value:
    x, y = b.common(self, values)
    step = b.tensor(b.one("greater", x, 0), x.dtype)
    found = b.choose(b.one("equal", x, 0), y, step)
    return b.choose(b.op("isnan", x), 0, found) if is_float(x.dtype) else found


@aten_op("isclose")
def isclose(
    b: AtenBuilder, self: Value, other: Value, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Value:
    x, y = b.common(self, other)
    found = b.op("equal", x, y)
    if is_float(x.dtype):
        if equal_nan:
            found = b.op("logical_or", found, b.op("logical_and", b.op("isnan", x), b.op("isnan", y)))
        reach = b.add(b.mul(b.op("abs", y), rtol), atol)
        near = b.op("less_equal", b.op("abs", b.sub(x, y)), reach)
        both = b.op("isfinite", b.sub(x, y))
        return b.op("logical_or", found, b.op("logical_and", near, both))
    x, y = (b.tensor(v, "float64") for v in (x, y))
    reach = b.add(b.mul(b.op("abs", y), rtol), atol)
    return b.op("logical_or", found, b.op("less_equal", b.op("abs", b.sub(x, y)), reach))


# -- element types ---------------------------------------------------------------------------------


@aten_op("_to_copy", "to.dtype", "to.dtype_layout", "to.prim_dtype", "prims.convert_element_type")
def to(
    b: AtenBuilder, self: Value, dtype: DType | None = None, non_blocking: bool = False, copy: bool = False,
    memory_format: Any = None, **_: Any,
) -> Value:  # fmt: skip
    """The same numbers as another type."""
    return self if dtype is None else b.cast(self, dtype.name)


@aten_op("to.device", "to.prim_Device")
def to_device(
    b: AtenBuilder, self: Value, device: Other | None = None, dtype: DType | None = None, non_blocking: bool = False,
    copy: bool = False, memory_format: Any = None,
) -> Value:  # fmt: skip
    return to(b, self, dtype)


@aten_op("to.prim_other")
def to_nothing_else(b: AtenBuilder, self: Value, non_blocking: bool = False, copy: bool = False) -> Value:
    return self


@aten_op("_autocast_to_full_precision")
def autocast_to_full(b: AtenBuilder, self: Value, cuda_enabled: bool, cpu_enabled: bool) -> Value:
    return b.cast(self, "float32") if cpu_enabled and self.dtype in ("float16", "bfloat16") else self


@aten_op("_autocast_to_reduced_precision")
def autocast_to_reduced(
    b: AtenBuilder, self: Value, cuda_enabled: bool, cpu_enabled: bool, cuda_dtype: DType, cpu_dtype: DType
) -> Value:
    return b.cast(self, cpu_dtype.name) if cpu_enabled and self.dtype == "float32" else self


@aten_op("type_as", "to.other")
def type_as(b: AtenBuilder, self: Value, other: Value, *_: Any, **__: Any) -> Value:
    return b.cast(self, other.dtype)


@aten_op("float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool")
def to_named(b: AtenBuilder, self: Value, *_: Any) -> Value:
    assert b.call is not None
    names = {
        "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "int": "int32",
        "long": "int64", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool",
    }  # fmt: skip
    return b.cast(self, names[b.call.packet])


@aten_op("view.dtype")
def view_as_type(b: AtenBuilder, self: Value, dtype: DType) -> Value:
    """The same bits as another type of the same width."""
    from lamina.dialects.dtypes import itemsize

    if itemsize(self.dtype) != itemsize(dtype.name) or "bool" in (self.dtype, dtype.name):
        raise b.unsupported(f"the bits of {self.dtype} as {dtype.name} are not supported")
    return self if self.dtype == dtype.name else b.op("reinterpret", self, dtype=dtype.name)


@aten_op("real", "conj", "conj_physical", "resolve_conj", "resolve_neg", "_conj")
def real(b: AtenBuilder, self: Value) -> Value:
    """The real part of what is real."""
    return self


@aten_op("imag")
def imag(b: AtenBuilder, self: Value) -> Value:
    raise b.unsupported("the tensor is real")
