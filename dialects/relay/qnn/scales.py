"""Scales and zero points: what the quantised ops have in common.

    real = scale * (quantised - zero_point)

A scale is float32 and a zero point int32: one number (of rank 0, or one element), or one for each place along the
op's `axis`. They are operands; an op means the same whether they are constants or not. Decompositions ask for
constants only to leave out what does nothing.

The second half are the oracles of rounding and rescaling, in whole numbers.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from lamina.dialects.dtypes import integer_range
from lamina.dialects.relay.declare import *

QUANTIZED = ("int8", "uint8", "int16", "int32")
NARROW = ("int8", "uint8")

# -- types -----------------------------------------------------------------------------------------


class QnnDataAndWeight:
    """Operands and results of products of quantised tensors."""

    data = operand_def()
    weight = operand_def()
    input_zero_point = operand_def()
    kernel_zero_point = operand_def()
    input_scale = operand_def()
    kernel_scale = operand_def()
    result = result_def()


class QnnDataAndScales:
    """Operands and results of functions of one quantised tensor."""

    data = operand_def()
    input_scale = operand_def()
    input_zero_point = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()
    result = result_def()


def check_quantized(what: str, info: TensorInfo, allowed: tuple[str, ...] = QUANTIZED) -> str:
    """The dtype. Raises TypeMismatch, naming the operand or attribute, when it is not among the allowed."""
    if info.dtype not in allowed:
        raise TypeMismatch(f"{what} is {info.dtype}, expects {' or '.join(allowed)}")
    return info.dtype


def check_out_dtype(dtype: str, allowed: tuple[str, ...] = QUANTIZED) -> str:
    """The dtype that an attribute names. Raises TypeMismatch."""
    if dtype not in allowed:
        raise TypeMismatch(f"out_dtype {dtype!r} is none of {', '.join(allowed)}")
    return dtype


def check_one(what: str, info: TensorInfo, dtype: str) -> None:
    """Raises TypeMismatch unless the operand is one number of that dtype."""
    if info.dtype != dtype:
        raise TypeMismatch(f"{what} is {info.dtype}, expects {dtype}")
    if info.shape not in ((), (1,)):
        raise TypeMismatch(f"{what} has shape {info.shape}, expects one number")


def check_along(what: str, info: TensorInfo, dtype: str, shape: tuple[int, ...], axis: int) -> None:
    """Raises TypeMismatch unless the operand is one number, or one for each place along an axis of the shape."""
    if info.dtype == dtype and info.shape in ((), (1,)):
        return
    if info.dtype != dtype:
        raise TypeMismatch(f"{what} is {info.dtype}, expects {dtype}")
    extent = shape[normalize_axis(axis, len(shape))] if shape else 1
    if info.shape != (extent,):
        raise TypeMismatch(f"{what} has shape {info.shape}, axis {axis} has extent {extent}")


def scale_dtype(scale: TensorInfo) -> str:
    """The dtype to check an input's scale against: float64 holds the exact product of two, all others are float32."""
    return "float64" if scale.dtype == "float64" else "float32"


def check_scales(names: str, infos: tuple[TensorInfo, ...]) -> None:
    """Pairs of a scale and a zero point, one number each; `names` says whose: "lhs rhs output"."""
    for n, name in enumerate(names.split()):
        check_one(f"{name}_scale", infos[2 * n], "float32")
        check_one(f"{name}_zero_point", infos[2 * n + 1], "int32")


# -- in decompositions -----------------------------------------------------------------------------


def info_of(value: SSAValue) -> TensorInfo:
    """The shape and dtype of an SSA value. Raises TypeMismatch where it is no tensor that Relay has."""
    return tensor_info(value.type)


def cast(value: SSAValue, dtype: str) -> Any:
    """The value as a dtype; itself where it is so already."""
    return value if info_of(value).dtype == dtype else r.cast(value, dtype=dtype)


def along(value: SSAValue, axis: int, rank: int) -> Any:
    """One number or one for each place along an axis, ready to broadcast against a tensor of that rank."""
    shape = info_of(value).shape
    if not shape:
        return value
    if shape == (1,):
        return r.reshape(value, newshape=())
    after = rank - 1 - normalize_axis(axis, rank)
    return r.expand_dims(value, axis=1, num_newaxis=after) if after else value


def known_values(value: SSAValue) -> Array | None:
    """The numbers of a small constant, None for anything else."""
    from lamina.dialects.relay.core import constant_value
    from lamina.dialects.relay.params import dense_array

    attr = constant_value(value)
    return dense_array(attr) if isinstance(attr, DenseIntOrFPElementsAttr) else None


def is_zero(value: SSAValue) -> bool:
    """Whether the value is known to be zero everywhere."""
    numbers = known_values(value)
    return numbers is not None and not numbers.any()


def same_constant(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are known to be the same."""
    if a is b:
        return True
    x, y = known_values(a), known_values(b)
    return x is not None and y is not None and x.size == y.size and bool((x.ravel() == y.ravel()).all())


def centred(data: SSAValue, zero_point: SSAValue, axis: int, dtype: str) -> Any:
    """data - zero_point in a dtype wide enough."""
    wide = cast(data, dtype)
    if is_zero(zero_point):
        return wide
    return r.subtract(wide, cast(along(zero_point, axis, rank_of(data)), dtype))


def shifted(data: SSAValue, zero_point: SSAValue, axis: int = -1) -> Any:
    """data + zero_point, in the dtype of data."""
    if is_zero(zero_point):
        return data
    return r.add(data, cast(along(zero_point, axis, rank_of(data)), info_of(data).dtype))


def saturated(data: SSAValue, dtype: str) -> Any:
    """Integers as another integer dtype, the nearest that it has."""
    low, high = integer_range(dtype)
    own = integer_range(info_of(data).dtype)
    if own[0] < low or own[1] > high:
        data = r.clip(data, a_min=float(low), a_max=float(high))
    return cast(data, dtype)


def rounded(data: SSAValue) -> Any:
    """Floats rounded to whole ones, halves away from zero.

    A half less one ulp is added towards the number's own side and the fraction dropped: 0.5 and everything above
    reaches the next whole number, nothing below does.
    """
    half = np.nextafter(np.asarray(0.5, info_of(data).dtype), 0).item()
    negative = r.less(data, 0)
    return r.trunc(r.add(data, r.where(negative, number(-half, data), number(half, data))))


# -- oracles ---------------------------------------------------------------------------------------


def ref_along(numbers: Array, axis: int, rank: int) -> Array:
    """As `along`, of arrays."""
    if numbers.size == 1:
        return numbers.reshape(())
    shape = [1] * rank
    shape[axis] = numbers.size
    return numbers.reshape(shape)


def ref_zero(zero_point: Array) -> Array:
    """The one number of a zero point, as int64."""
    return zero_point.reshape(()).astype(np.int64)


def ref_centred(data: Array, zero_point: Array, axis: int = -1) -> Array:
    """data - zero_point as int64."""
    return data.astype(np.int64) - ref_along(zero_point, axis, data.ndim).astype(np.int64)


def ref_saturated(data: Array, dtype: str) -> Array:
    """The nearest number that the dtype has."""
    return np.clip(data, *integer_range(dtype)).astype(dtype)


def ref_rounded(data: Array) -> Array:
    """The nearest whole numbers, halves away from zero."""
    whole = np.trunc(data)
    return whole + np.where(np.abs(data - whole) >= 0.5, np.sign(data), 0).astype(data.dtype)


def ref_ratios(input_scale: Array, output_scale: Array) -> tuple[Array, Array]:
    """Ratios of scales as multiplier / 2**shift, with 31 bits of multiplier: int64 both."""
    ratio = input_scale.astype(np.float64) / output_scale.astype(np.float64).reshape(())
    ratio = np.minimum(ratio, 2.0**31 - 2.0**-22)
    significand, exponent = np.frexp(ratio)
    enough = ratio >= 2.0**-32
    multiplier = np.floor(np.where(enough, significand, 0.0) * 2.0**31 + 0.5).astype(np.int64)
    return multiplier, np.where(enough, 31 - exponent, 62).astype(np.int64)


def ref_ratio(input_scale: float, output_scale: float) -> tuple[int, int]:
    """The same of two numbers."""
    multiplier, shift = ref_ratios(np.asarray(input_scale), np.asarray(output_scale))
    return int(multiplier), int(shift)


def ref_rescaled(data: Array, input_scale: Array, output_scale: Array, axis: int, to_nearest: bool) -> Array:
    """Integers of 32 bits times input_scale / output_scale, rounded; ties go up, or away from zero.

    By quotient and remainder, which are exact: a multiplier is at most 2**31, so no product is beyond 2**62.
    """
    multiplier, shift = (ref_along(n, axis, data.ndim) for n in ref_ratios(input_scale, output_scale))
    product, unit = data.astype(np.int64) * multiplier, 2**shift
    sign = np.where(product < 0, -1, 1) if to_nearest else 1
    quotient, rest = np.divmod(sign * product, unit)
    return sign * (quotient + (rest >= unit - rest))


def ref_rescaled_twice(data: Array, input_scale: Array, output_scale: Array, axis: int) -> Array:
    """Integers of 32 bits times input_scale / output_scale, rounded twice as TFLite does.

    In 64 bits, of which none is lost: the multiplier is below 2**31, so a doubled product is within 2**63 - 2**32.
    """
    multiplier, shift = (ref_along(n, axis, data.ndim) for n in ref_ratios(input_scale, output_scale))
    over = multiplier == 2**31
    multiplier, shift = np.where(over, 2**30, multiplier), np.where(over, shift - 1, shift)
    left, right = np.maximum(31 - shift, 0), np.maximum(shift - 31, 0)
    wrapped = (data.astype(np.int64) * 2**left + 2**31) % 2**32 - 2**31
    high = (wrapped * multiplier * 2 + 2**31) // 2**32
    return np.sign(high) * ((np.abs(high) * 2 + 2**right) // 2 ** (right + 1))


def ref_rescaled_away(data: Array, input_scale: Array, output_scale: Array, axis: int) -> Array:
    """Integers times input_scale / output_scale in float64, rounded, halves away from zero."""
    ratio = input_scale.astype(np.float64) / output_scale.astype(np.float64).reshape(())
    return ref_rounded(data.astype(np.float64) * ref_along(ratio, axis, data.ndim)).astype(np.int64)
