"""In and out of the quantised domain, and from one scale to another: quantize, dequantize, requantize.

Rescaling in whole numbers is in `rescale.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from lamina.dialects.dtypes import integer_range
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.relay.qnn.rescale import difference, exponents, rescaled, rescaled_twice

ROUNDINGS = ("None", "UPWARD", "TONEAREST", "TONEVEN", "TFLITE")
QUANTIZE_ROUNDINGS = ("TONEAREST", "TONEVEN", "TFLITE", "FBGEMM")
COMPUTE_DTYPES = ("None", "int64", "float32", "float64")
IEEE_FLOATS = ("float32", "float16", "float64")


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raises TypeMismatch unless the attribute has one of the values."""
    if value not in allowed:
        raise TypeMismatch(f"{name} {value!r} is none of {', '.join(allowed)}")


@irdl_op_definition
class RequantizeOp(RelayOp, qs.QnnDataAndScales, fusion_kind=OpPattern.ELEMWISE, along_axis=True):
    """q' = round((q - input_zero_point) * input_scale / output_scale) + output_zero_point, saturated to `out_dtype`.

    `input_scale` and `input_zero_point` may be lists along `axis`. `rounding` says where ties go: UPWARD, or TONEAREST
    away from zero. `compute_dtype` int64 rescales in fixed point (`relay.multiplier_shift`); with float32 or
    float64 the product is one of floats and the zero point is added before rounding. "None" stands for UPWARD and
    int64. TONEVEN is what ONNX's quantised products do, in floats only: the product by itself is rounded, halves to
    the even number, and the ratio of the scales is one of `compute_dtype`. TFLITE is what TFLite's kernels compute, in
    whole numbers of 32 bits, to the bit: the product with a multiplier of 31 bits is rounded, then the shift by which
    it is scaled down; with float64, as its reference kernels of dense layers do, the product of floats is rounded by
    itself, halves away from zero. `input_scale` may be float64, to hold the exact product of two scales.
    """

    name = "relay.qnn.requantize"

    axis = int_prop(-1)
    rounding = str_prop("None")
    compute_dtype = str_prop("None")
    out_dtype = str_prop("int8")

    @staticmethod
    def infer_type(
        data: TensorInfo, input_scale: TensorInfo, input_zero_point: TensorInfo,
        output_scale: TensorInfo, output_zero_point: TensorInfo,
        axis: int, rounding: str, compute_dtype: str, out_dtype: str,
    ) -> TensorInfo:  # fmt: skip
        qs.check_quantized("data", data)
        qs.check_along("input_scale", input_scale, qs.scale_dtype(input_scale), data.shape, axis)
        qs.check_along("input_zero_point", input_zero_point, "int32", data.shape, axis)
        qs.check_scales("output", (output_scale, output_zero_point))
        one_of("rounding", rounding, ROUNDINGS)
        one_of("compute_dtype", compute_dtype, COMPUTE_DTYPES)
        if rounding == "TFLITE" and compute_dtype == "float32":
            raise TypeMismatch("rounding 'TFLITE' is one of whole numbers or float64, compute_dtype is 'float32'")
        if rounding == "TONEVEN" and compute_dtype not in IEEE_FLOATS:
            raise TypeMismatch(f"rounding 'TONEVEN' is one of floats, compute_dtype is {compute_dtype!r}")
        return TensorInfo(data.shape, qs.check_out_dtype(out_dtype))

    @staticmethod
    def decompose(
        data: SSAValue, input_scale: SSAValue, input_zero_point: SSAValue,
        output_scale: SSAValue, output_zero_point: SSAValue,
        axis: int, rounding: str, compute_dtype: str, out_dtype: str,
    ) -> Any:  # fmt: skip
        if rounding == "TONEVEN":
            scales = input_scale, output_scale
            return _rounded_to_even(data, scales, input_zero_point, output_zero_point, axis, compute_dtype, out_dtype)
        if rounding == "TFLITE":
            scales = input_scale, output_scale
            rounded = _rounded_away if compute_dtype == "float64" else _rounded_twice
            return rounded(data, scales, input_zero_point, output_zero_point, axis, out_dtype)
        to_nearest = rounding == "TONEAREST"
        centred = difference(data, input_zero_point, axis)
        if compute_dtype in ("None", "int64"):
            made = qs.shifted(rescaled(centred, input_scale, output_scale, axis, to_nearest), output_zero_point)
            return qs.saturated(made, out_dtype)
        wide = r.divide(qs.cast(input_scale, "float64"), qs.cast(_scalar(output_scale), "float64"))
        ratio = qs.along(qs.cast(wide, compute_dtype), axis, rank_of(data))
        # Far outside of every dtype, and exact in each.
        product = r.clip(r.multiply(r.cast(centred, dtype=compute_dtype), ratio), a_min=-(2.0**40), a_max=2.0**40)
        floor = r.floor(product)
        rest = r.subtract(product, floor)
        made = qs.shifted(r.cast(floor, dtype="int64"), output_zero_point)
        up = r.greater_equal(rest, 0.5)
        if to_nearest:
            up = r.logical_or(r.greater(rest, 0.5), r.logical_and(up, r.greater_equal(made, 0)))
        return qs.saturated(r.add(made, r.cast(up, dtype="int64")), out_dtype)

    @staticmethod
    def np_ref(
        data: Array, input_scale: Array, input_zero_point: Array, output_scale: Array, output_zero_point: Array,
        axis: int, rounding: str, compute_dtype: str, out_dtype: str,
    ) -> Array:  # fmt: skip
        to_nearest, zero = rounding == "TONEAREST", qs.ref_zero(output_zero_point)
        centred = np.clip(qs.ref_centred(data, input_zero_point, axis), *integer_range("int32"))
        if rounding == "TFLITE":
            rescaled_ref = qs.ref_rescaled_away if compute_dtype == "float64" else qs.ref_rescaled_twice
            return qs.ref_saturated(rescaled_ref(centred, input_scale, output_scale, axis) + zero, out_dtype)
        if compute_dtype in ("None", "int64"):
            made = qs.ref_rescaled(centred, input_scale, output_scale, axis, to_nearest) + zero
            return qs.ref_saturated(made, out_dtype)
        if rounding == "TONEVEN":
            ratio = input_scale.astype(compute_dtype) / output_scale.astype(compute_dtype).reshape(())
            made = np.rint(centred.astype(compute_dtype) * qs.ref_along(ratio, axis, data.ndim)).astype(np.float64)
            return qs.ref_saturated(made + zero, out_dtype)
        ratio = (input_scale.astype(np.float64) / output_scale.astype(np.float64).reshape(())).astype(compute_dtype)
        product = centred.astype(compute_dtype) * qs.ref_along(ratio, axis, data.ndim)

        def one(value: float) -> int:
            twice = 2 * (Fraction(value) + int(zero))
            if to_nearest and twice < 0:
                return -int((1 - twice) // 2)
            return int((twice + 1) // 2)

        exact = np.frompyfunc(one, 1, 1)(np.clip(product.astype(np.float64), -(2.0**40), 2.0**40))
        return qs.ref_saturated(np.asarray(exact).astype(np.int64), out_dtype)

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            shape: tuple[int, ...], dtype: str, scales: int = 0, out: tuple[float, float] = (0.3, 0.7), **attrs: Any
        ) -> Sample:
            several = (scales,) if scales else ()
            high = {"int8": 127.0, "uint8": 255.0, "int16": 32767.0, "int32": 40000.0}[dtype]
            return sample(
                (shape, dtype), several, (several, "int32"), (), ((), "int32"),
                ranges=((0.0 if dtype == "uint8" else -high - 1, high), (0.001, 0.02), (-9, 9), out, (-20, 20)),
                attrs=attrs,
            )  # fmt: skip

        return [
            one((2, 3, 5), "int32"), one((7,), "int32", 7), one((1,), "uint8", out_dtype="uint8", out=(0.001, 0.01)),
            one((), "int8", out_dtype="int32", out=(1e-4, 1e-3)), one((2, 5, 3, 3), "int32", 5, axis=1),
            one((3, 4), "int32", 3, axis=-2, rounding="TONEAREST"), one((9,), "int16", out_dtype="int16"),
            one((4, 6), "int32", rounding="UPWARD", compute_dtype="int64", out_dtype="uint8"),
            one((31,), "int32", compute_dtype="float32"), one((31,), "int32", 31, compute_dtype="float64", axis=0),
            one((5, 7), "int32", 7, compute_dtype="float32", rounding="TONEAREST", out_dtype="uint8"),
            one((5, 7), "int32", 7, compute_dtype="float32", rounding="TONEVEN", out_dtype="uint8"),
            one((33,), "uint8", compute_dtype="float64", rounding="TONEVEN", out=(0.001, 0.002)),
            sample(((64,), "int8"), (), ((), "int32"), (), ((), "int32"),
                   attrs={"rounding": "TONEVEN", "compute_dtype": "float32"},
                   ranges=((-60, 60), (0.5, 0.5), (0, 0), (1.0, 1.0), (3, 3))),
            sample(((3,), "int32"), (), ((), "int32"), (), ((), "int32"), attrs={"rounding": "TONEVEN"},
                   error="compute_dtype is 'None'"),
            *_samples_rounded_twice(one),
            # Ties: the ratio is a half, a quarter.
            sample(((64,), "int8"), (), ((), "int32"), (), ((), "int32"), attrs={"rounding": "TONEAREST"},
                   ranges=((-60, 60), (0.5, 0.5), (0, 0), (1.0, 1.0), (0, 0))),
            sample(((64,), "int8"), (), ((), "int32"), (), ((), "int32"),
                   ranges=((-60, 60), (0.5, 0.5), (0, 0), (2.0, 2.0), (0, 0))),
            sample(((64,), "int8"), (), ((), "int32"), (), ((), "int32"),
                   attrs={"rounding": "TONEAREST", "compute_dtype": "float32"},
                   ranges=((-60, 60), (0.5, 0.5), (0, 0), (1.0, 1.0), (3, 3))),
            # Saturation on both sides, with data at the ends of 32 bits.
            sample(((64,), "int32"), (1,), ((), "int32"), (1,), ((1,), "int32"), attrs={"out_dtype": "int32"},
                   ranges=((-2**31, 2**31 - 1), (0.5, 0.5), (-2**31, 2**31 - 1), (0.2, 0.3), (-9, 9))),
            sample((3,), (), ((), "int32"), (), ((), "int32"), error="data is float32, expects int8 or uint8"),
            sample(((3,), "int32"), (2,), ((), "int32"), (), ((), "int32"), error="axis -1 has extent 3"),
            sample(((3,), "int32"), (), (), (), ((), "int32"), error="input_zero_point is float32, expects int32"),
            sample(((3,), "int32"), (), ((), "int32"), (3,), ((), "int32"), error="output_scale has shape (3,)"),
            sample(((3,), "int32"), (), ((), "int32"), (), ((), "int32"), attrs={"rounding": "DOWN"},
                   error="rounding 'DOWN' is none of"),
            sample(((3,), "int32"), (), ((), "int32"), (), ((), "int32"), attrs={"out_dtype": "float32"},
                   error="out_dtype 'float32' is none of"),
        ]  # fmt: skip


def _rounded_to_even(
    data: SSAValue, scales: tuple[SSAValue, SSAValue], zero_point: SSAValue, output_zero_point: SSAValue, axis: int,
    compute_dtype: str, out_dtype: str,
) -> Any:  # fmt: skip
    """Requantisation as ONNX's products have it; `relay-quantized-products` has a shorter one for known scales."""
    rank = rank_of(data)
    narrow = qs.info_of(data).dtype in (*qs.NARROW, "int16") or qs.is_zero(zero_point)
    whole = qs.centred(data, zero_point, axis, "int32") if narrow else difference(data, zero_point, axis)
    first, second = qs.cast(scales[0], compute_dtype), qs.cast(_scalar(scales[1]), compute_dtype)
    product = r.multiply(r.cast(whole, dtype=compute_dtype), qs.along(r.divide(first, second), axis, rank))
    bounded = r.clip(r.round(product), a_min=-(2.0**40), a_max=2.0**40)
    return qs.saturated(qs.shifted(r.cast(bounded, dtype="int64"), output_zero_point), out_dtype)


def _rounded_twice(
    data: SSAValue, scales: tuple[SSAValue, SSAValue], zero_point: SSAValue, output_zero_point: SSAValue, axis: int,
    out_dtype: str,
) -> Any:  # fmt: skip
    """Requantisation as TFLite's kernels have it; in 32 bits to the end where known scales keep the sum within them."""
    bits = {"int8": 9, "uint8": 9, "int16": 17, "int32": 31}[qs.info_of(data).dtype]
    if qs.is_zero(zero_point) or bits < 31 and _is_short(zero_point):
        centred = qs.centred(data, zero_point, axis, "int32")
    else:
        bits, centred = 31, qs.cast(difference(data, zero_point, axis), "int32")
    made = rescaled_twice(centred, *scales, axis)
    known = exponents(*scales)
    if known is None or bits + max(known) > 30 or not _is_short(output_zero_point):
        made = r.cast(made, dtype="int64")
    return qs.saturated(qs.shifted(made, output_zero_point), out_dtype)


def _samples_rounded_twice(one: Callable[..., Sample]) -> list[Sample]:
    return [
        one((2, 3, 5), "int32", rounding="TFLITE"), one((2, 5, 3), "int32", 5, axis=1, rounding="TFLITE"),
        one((33,), "int8", rounding="TFLITE", out=(0.0005, 0.001)),
        one((33,), "int16", rounding="TFLITE", out_dtype="int16", out=(0.004, 0.02)),
        one((7, 3), "int32", 3, out=(0.001, 0.002), rounding="TFLITE", compute_dtype="int64", out_dtype="uint8"),
        one((7, 3), "int32", 3, rounding="TFLITE", compute_dtype="float64", out_dtype="uint8"),
        sample(((64,), "int8"), (), ((), "int32"), (), ((), "int32"),
               attrs={"rounding": "TFLITE", "compute_dtype": "float64"},
               ranges=((-60, 60), (0.5, 0.5), (0, 0), (1.0, 1.0), (3, 3))),
        sample(((3, 31), "int32"), ((31,), "float64"), ((), "int32"), (), ((), "int32"),
               attrs={"rounding": "TFLITE", "out_dtype": "int16"},
               ranges=((-99999, 99999), (1e-5, 1e-3), (0, 0), (0.02, 0.03), (-20, 20))),
        # Two roundings: both meet halves. Ratios of powers of two, a quarter and four.
        sample(((64,), "int32"), (), ((), "int32"), (), ((), "int32"), attrs={"rounding": "TFLITE"},
               ranges=((-99, 99), (0.5, 0.5), (0, 0), (2.0, 2.0), (0, 0))),
        sample(((64,), "int8"), (), ((), "int32"), (), ((), "int32"), attrs={"rounding": "TFLITE"},
               ranges=((-60, 60), (2.0, 2.0), (0, 0), (0.5, 0.5), (0, 0))),
        sample(((3,), "int32"), (), ((), "int32"), (), ((), "int32"),
               attrs={"rounding": "TFLITE", "compute_dtype": "float32"},
               error="rounding 'TFLITE' is one of whole numbers or float64"),
    ]  # fmt: skip


def _rounded_away(
    data: SSAValue, scales: tuple[SSAValue, SSAValue], zero_point: SSAValue, output_zero_point: SSAValue, axis: int,
    out_dtype: str,
) -> Any:  # fmt: skip
    """Requantisation as TFLite's reference kernels of dense layers have it, in float64."""
    ratio = r.divide(qs.cast(scales[0], "float64"), qs.cast(_scalar(scales[1]), "float64"))
    centred = r.cast(difference(data, zero_point, axis), dtype="float64")
    made = qs.rounded(r.multiply(centred, qs.along(ratio, axis, rank_of(data))))
    low, high = integer_range(out_dtype)
    return r.cast(r.clip(qs.shifted(made, output_zero_point), a_min=float(low), a_max=float(high)), dtype=out_dtype)


def _is_short(zero_point: SSAValue) -> bool:
    """Whether a zero point is known, and one of 16 bits."""
    numbers = qs.known_values(zero_point)
    return numbers is not None and bool((abs(numbers.astype(np.int64)) <= 2**15).all())


def _scalar(value: SSAValue) -> Any:
    return r.reshape(value, newshape=()) if qs.info_of(value).shape else value


@irdl_op_definition
class QuantizeOp(RelayOp, fusion_kind=OpPattern.ELEMWISE, along_axis=True):
    """q = round(data / output_scale + output_zero_point) in f32, saturated to `out_dtype`; scales along `axis`.

    `rounding` TONEAREST sends halves away from zero, as TVM does; TONEVEN rounds data / output_scale by itself, halves
    to the even number, as ONNX does; TFLITE does so too, halves away from zero. FBGEMM rounds
    data * (1 / output_scale) + output_zero_point to even, as PyTorch does: a product with an inverse, and a sum that is
    rounded with it where both become one instruction. NaN gives no certain value.
    """

    name = "relay.qnn.quantize"

    data = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()
    result = result_def()
    axis = int_prop(-1)
    out_dtype = str_prop("int8")
    rounding = str_prop("TONEAREST")

    @staticmethod
    def infer_type(
        data: TensorInfo, output_scale: TensorInfo, output_zero_point: TensorInfo,
        axis: int, out_dtype: str, rounding: str,
    ) -> TensorInfo:  # fmt: skip
        qs.check_quantized("data", data, IEEE_FLOATS)
        qs.check_along("output_scale", output_scale, "float32", data.shape, axis)
        qs.check_along("output_zero_point", output_zero_point, "int32", data.shape, axis)
        one_of("rounding", rounding, QUANTIZE_ROUNDINGS)
        return TensorInfo(data.shape, qs.check_out_dtype(out_dtype))

    @staticmethod
    def decompose(
        data: SSAValue, output_scale: SSAValue, output_zero_point: SSAValue, axis: int, out_dtype: str, rounding: str
    ) -> Any:
        rank = rank_of(data)
        scale, wide = qs.along(output_scale, axis, rank), qs.cast(data, "float32")
        scaled = r.multiply(wide, r.divide(1.0, scale)) if rounding == "FBGEMM" else r.divide(wide, scale)
        zero = qs.cast(qs.along(output_zero_point, axis, rank), "float32")
        plain = qs.is_zero(output_zero_point)
        if rounding in ("TONEVEN", "TFLITE"):
            nearest = r.round(scaled) if rounding == "TONEVEN" else qs.rounded(scaled)
            made = nearest if plain else r.add(nearest, zero)
        else:
            moved = scaled if plain else r.add(scaled, zero)
            made = r.round(moved) if rounding == "FBGEMM" else qs.rounded(moved)
        if out_dtype == "int32":
            made = r.cast(made, dtype="float64")  # the bounds of int32 are no f32
        low, high = integer_range(out_dtype)
        return r.cast(r.clip(made, a_min=float(low), a_max=float(high)), dtype=out_dtype)

    @staticmethod
    def np_ref(
        data: Array, output_scale: Array, output_zero_point: Array, axis: int, out_dtype: str, rounding: str
    ) -> Array:
        scale, zero = (qs.ref_along(a, axis, data.ndim) for a in (output_scale, output_zero_point))
        scaled = data.astype(np.float32) / scale
        if rounding == "FBGEMM":
            product = data.astype(np.float32).astype(np.float64) * (np.float32(1) / scale)
            made = np.rint((product + zero).astype(np.float32))
        elif rounding in ("TONEVEN", "TFLITE"):
            made = (np.rint if rounding == "TONEVEN" else qs.ref_rounded)(scaled) + zero.astype(np.float32)
        else:
            made = qs.ref_rounded(scaled + zero.astype(np.float32))
        low, high = integer_range(out_dtype)
        return np.clip(made.astype(np.float64), low, high).astype(out_dtype)

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], scales: int = 0, dtype: str = "float32", **attrs: Any) -> Sample:
            several = (scales,) if scales else ()
            return sample(
                (shape, dtype), several, (several, "int32"), attrs=attrs, ranges=((-9, 9), (0.01, 0.1), (-20, 20))
            )

        return [
            one((2, 3, 5)), one((7,), 7, out_dtype="uint8"), one((1,), out_dtype="int16"), one((), out_dtype="int32"),
            one((2, 5, 3), 5, axis=1), one((3, 4), 3, axis=-2, out_dtype="uint8"), one((19,), dtype="float16"),
            one((33,), rounding="TONEVEN"), one((3, 17), 17, dtype="float64", rounding="TONEVEN", out_dtype="uint8"),
            # All quotients are halves.
            sample(((40,), "float16"), (), ((), "int32"), ranges=((0.5, 0.5), (1.0, 1.0), (-3, 3))),
            sample(((40,), "float16"), (), ((), "int32"), ranges=((-0.5, -0.5), (1.0, 1.0), (-3, 3)),
                   attrs={"rounding": "TFLITE"}),
            one((33,), rounding="TFLITE"), one((3, 17), 17, rounding="TFLITE", out_dtype="uint8"),
            one((33,), rounding="FBGEMM"), one((3, 17), 17, rounding="FBGEMM", out_dtype="uint8"),
            one((2, 5, 3), 5, axis=1, rounding="FBGEMM", dtype="float16"),
            sample((5,), (1,), ((1,), "int32"), ranges=((-1e12, 1e12), (0.1, 0.2), (0, 0)),
                   attrs={"out_dtype": "int32"}),
            sample(((3,), "int8"), (), ((), "int32"), error="data is int8, expects float32"),
            sample((3,), (2,), ((), "int32"), error="output_scale has shape (2,), axis -1 has extent 3"),
            sample((3,), (3,), ((3,), "int32"), attrs={"axis": 1}, error="axis 1 is out of range for rank 1"),
            sample((3,), (), ((), "int32"), attrs={"rounding": "DOWN"}, error="rounding 'DOWN' is none of"),
            sample((3,), (), ((), "int32"), attrs={"out_dtype": "bool"}, error="out_dtype 'bool' is none of"),
        ]  # fmt: skip


@irdl_op_definition
class DequantizeOp(RelayOp, fusion_kind=OpPattern.ELEMWISE, along_axis=True):
    """real = (data - input_zero_point) * input_scale, computed in f32; scale and zero point along `axis`."""

    name = "relay.qnn.dequantize"

    data = operand_def()
    input_scale = operand_def()
    input_zero_point = operand_def()
    result = result_def()
    axis = int_prop(-1)
    out_dtype = str_prop("float32")

    @staticmethod
    def infer_type(
        data: TensorInfo, input_scale: TensorInfo, input_zero_point: TensorInfo, axis: int, out_dtype: str
    ) -> TensorInfo:
        qs.check_quantized("data", data)
        qs.check_along("input_scale", input_scale, "float32", data.shape, axis)
        qs.check_along("input_zero_point", input_zero_point, "int32", data.shape, axis)
        return TensorInfo(data.shape, qs.check_out_dtype(out_dtype, IEEE_FLOATS))

    @staticmethod
    def decompose(data: SSAValue, input_scale: SSAValue, input_zero_point: SSAValue, axis: int, out_dtype: str) -> Any:
        centred = qs.centred(data, input_zero_point, axis, "int32")
        real = r.multiply(r.cast(centred, dtype="float32"), qs.along(input_scale, axis, rank_of(data)))
        return qs.cast(real, out_dtype)

    @staticmethod
    def np_ref(data: Array, input_scale: Array, input_zero_point: Array, axis: int, out_dtype: str) -> Array:
        centred = qs.ref_centred(data, input_zero_point, axis).astype(np.int32)
        return (centred.astype(np.float32) * qs.ref_along(input_scale, axis, data.ndim)).astype(out_dtype)

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], dtype: str, scales: int = 0, **attrs: Any) -> Sample:
            several = (scales,) if scales else ()
            low, high = (max(v, -9999) if v < 0 else min(v, 9999) for v in integer_range(dtype))
            return sample(
                (shape, dtype), several, (several, "int32"), attrs=attrs, ranges=((low, high), (0.01, 0.1), (-20, 20))
            )

        return [
            one((2, 3, 5), "int8"), one((7,), "uint8", 7), one((1,), "int16"), one((), "int32"),
            one((2, 5, 3), "int32", 5, axis=1), one((3, 4), "int8", 3, axis=-2), one((19,), "uint8"),
            one((3, 17), "int8", 17, out_dtype="float16"), one((4, 1), "uint8", out_dtype="float64"),
            sample((3,), (), ((), "int32"), error="data is float32, expects int8"),
            sample(((3,), "int8"), (2,), ((), "int32"), error="input_scale has shape (2,), axis -1 has extent 3"),
            sample(((3,), "int8"), (), ((), "int32"), attrs={"out_dtype": "int8"}, error="out_dtype 'int8' is none of"),
        ]  # fmt: skip
