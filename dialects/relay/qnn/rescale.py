"""Rescaling of integers by a ratio of scales, in whole numbers.

The ratio s = input_scale / output_scale is taken as multiplier / 2**shift with a multiplier of 31 bits
(`relay.multiplier_shift`, which folds when the scales are constants), and

    t = (data - input_zero_point) * multiplier        (t + 2**(shift-1)) >> shift        + output_zero_point

in 64 bits, which saturates in the end. Ratios are taken between 2**-32 (less is nothing) and 2**31.

TFLite's kernels round twice, in 32 bits: `rescaled_twice`.
"""

from __future__ import annotations

from typing import Any

from lamina.dialects.dtypes import integer_range
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.qnn import scales as qs

FRACTION = 31


@irdl_op_definition
class MultiplierShiftOp(RelayOp):
    """input_scale / output_scale as multiplier / 2**shift, int64 both: multiplier in 2**30..2**31, shift in 0..62.

    input_scale is float32, or float64 where it is the exact product of two scales. A ratio below 2**-32 is 0 / 2**62,
    one above 2**31 is the greatest below it.
    """

    name = "relay.multiplier_shift"

    input_scale = operand_def()
    output_scale = operand_def()
    multiplier = result_def()
    shift = result_def()

    @staticmethod
    def infer_type(input_scale: TensorInfo, output_scale: TensorInfo) -> tuple[TensorInfo, TensorInfo]:
        if len(input_scale.shape) > 1:
            raise TypeMismatch(f"input_scale has shape {input_scale.shape}, expects one number or a list of them")
        qs.check_along("input_scale", input_scale, qs.scale_dtype(input_scale), input_scale.shape, -1)
        qs.check_one("output_scale", output_scale, "float32")
        info = TensorInfo(input_scale.shape, "int64")
        return info, info

    @staticmethod
    def np_ref(input_scale: Array, output_scale: Array) -> tuple[Array, Array]:
        return qs.ref_ratios(input_scale, output_scale)

    @staticmethod
    def te_compute(input_scale: Tensor, output_scale: Tensor) -> tuple[Tensor, Tensor]:
        whole = (0,) * output_scale.ndim

        def normal(*i: Index) -> tuple[Scalar, Scalar, Scalar]:
            """The ratio times 2**32 as y * 2**k with y in 1..2, and whether it is large enough for that."""
            ratio = te.cast(input_scale[i], "float64") / te.cast(output_scale[whole], "float64")
            y = te.minimum(ratio, 2.0**31 - 2.0**-22) * 2.0**32
            enough, k = y >= 1.0, te.const(0, "int64")
            for step in (32, 16, 8, 4, 2, 1):
                big = y >= 2.0**step
                y, k = te.select(big, y * 2.0**-step, y), te.select(big, k + step, k)
            return y, k, enough

        def multiplier(*i: Index) -> Scalar:
            y, _, enough = normal(*i)
            return te.select(enough, te.cast(te.floor(y * 2.0**30 + 0.5), "int64"), 0)

        def shift(*i: Index) -> Scalar:
            _, k, enough = normal(*i)
            return te.select(enough, 62 - k, 62)

        return te.compute(input_scale.shape, multiplier, "multiplier"), te.compute(input_scale.shape, shift, "shift")

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], low: float, high: float, *out: tuple[float, float]) -> Sample:
            return sample(shape, (), ranges=((low, high), out[0] if out else (0.5, 1.5)))

        return [
            one((), 0.01, 0.1), one((1,), 0.9, 1.1), one((7,), 1e-6, 1e-4), one((33,), 1.0, 1000.0),
            one((5,), 1e-12, 1e-9), one((3,), 1e12, 1e13), one((64,), 0.0, 1e-2, (1e-3, 1.0)),
            one((9,), -1.0, 1.0), sample((4,), (1,), ranges=((1.0, 1.0), (1.0, 1.0))),
            sample(((6,), "float64"), (), ranges=((1e-6, 1e-4), (0.5, 1.5))),
            sample((2, 2), (), error="input_scale has shape (2, 2), expects one number or a list of them"),
            sample((2,), (2,), error="output_scale has shape (2,), expects one number"),
            sample(((2,), "float16"), (), error="input_scale is float16, expects float32"),
        ]  # fmt: skip


def rescaled(
    data: SSAValue, input_scale: SSAValue, output_scale: SSAValue, axis: int = -1, to_nearest: bool = False
) -> Any:
    """Integers (int64, of 32 bits) times input_scale / output_scale, rounded: ties go up, or away from zero."""
    if qs.same_constant(input_scale, output_scale):
        return data
    rank = rank_of(data)
    multiplier, shift = r.multiplier_shift(input_scale, output_scale)
    multiplier, shift = qs.along(multiplier, axis, rank), qs.along(shift, axis, rank)
    half = r.right_shift(r.left_shift(number(1, shift), shift), 1)
    if to_nearest:
        half = r.where(r.less(data, 0), r.maximum(r.subtract(half, 1), 0), half)
    return r.right_shift(r.add(r.multiply(data, multiplier), half), shift)


def rescaled_twice(data: SSAValue, input_scale: SSAValue, output_scale: SSAValue, axis: int = -1) -> Any:
    """Integers (int32) times input_scale / output_scale as TFLite computes it, in 32 bits throughout.

    The ratio is multiplier * 2**(exponent - 31) with a multiplier below 2**31. The product with 2**-31 multiplier is
    rounded, halves up; a shift to the right after it rounds again, halves away from zero. A shift to the left comes
    before the product.
    """
    rank = rank_of(data)
    multiplier, shift = r.multiplier_shift(input_scale, output_scale)
    # A significand that was rounded up to 2**31.
    over = r.right_shift(multiplier, FRACTION)
    multiplier = r.cast(r.right_shift(multiplier, over), dtype="int32")
    exponent = r.cast(r.subtract(r.add(over, FRACTION), shift), dtype="int32")
    known = exponents(input_scale, output_scale)
    if known is None or max(known) > 0:
        data = r.left_shift(data, qs.along(r.maximum(exponent, 0), axis, rank))
    made = r.rounding_doubling_high_multiply(data, qs.along(multiplier, axis, rank))
    if known is not None and min(known) >= 0:
        return made
    return r.rounding_right_shift(made, qs.along(r.maximum(r.negative(exponent), 0), axis, rank))


def exponents(input_scale: SSAValue, output_scale: SSAValue) -> list[int] | None:
    """The least e of each ratio of the scales such that it is at most 2**e; None where they are not known."""
    scales, output = qs.known_values(input_scale), qs.known_values(output_scale)
    if scales is None or output is None or not scales.size:
        return None
    ratios = [qs.ref_ratio(float(s), float(output.reshape(()))) for s in scales.reshape(-1)]
    return [FRACTION - shift + (multiplier >> FRACTION) for multiplier, shift in ratios]


def requantized(
    data: SSAValue, scale: SSAValue, zero_point: SSAValue, output_scale: SSAValue, output_zero_point: SSAValue,
    axis: int = -1, dtype: str = "int64",
) -> Any:  # fmt: skip
    """`relay.qnn.requantize` of quantised ops that end or begin so: int64, or saturated to another dtype."""
    made = rescaled(difference(data, zero_point, axis), scale, output_scale, axis)
    made = qs.shifted(made, output_zero_point)
    return made if dtype == "int64" else qs.saturated(made, dtype)


def ref_requantized(
    data: Array, scale: Array, zero_point: Array, output_scale: Array, output_zero_point: Array, axis: int = -1
) -> Array:
    """The oracle of `requantized`, as int64."""
    centred = np.clip(qs.ref_centred(data, zero_point, axis), *integer_range("int32"))
    return qs.ref_rescaled(centred, scale, output_scale, axis, False) + qs.ref_zero(output_zero_point)


def difference(data: SSAValue, zero_point: SSAValue, axis: int) -> Any:
    """data - zero_point as int64, within 32 bits."""
    made = qs.centred(data, zero_point, axis, "int64")
    if qs.info_of(data).dtype in ("int32", "int64") and not (
        qs.info_of(data).dtype == "int32" and qs.is_zero(zero_point)
    ):
        low, high = integer_range("int32")
        made = r.clip(made, a_min=float(low), a_max=float(high))
    return made
