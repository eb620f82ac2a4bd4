"""In and out of the quantised domain, and from one scale to another: quantize, dequantize, requantize.

Rescaling by s = input_scale / output_scale is a product of integers: s = multiplier / 2**shift with a multiplier of 31
bits (`relay.qnn.multiplier_shift`, which folds when the scales are constants), and

    q = (data - input_zero_point) * multiplier        (q + 2**(shift-1)) >> shift        + output_zero_point

in 64 bits, which saturates in the end. Ratios are taken between 2**-32 (less is nothing) and 2**31.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.ir import SSAValue

from lamina.dialects import relay as r
from lamina.dialects.lazy import np, te
from lamina.dialects.relay import qnn_scales as qs
from lamina.dialects.relay.base import OpPattern, RelayOp, Sample, TensorInfo, TypeMismatch, sample
from lamina.dialects.relay.families import int_prop, str_prop

if TYPE_CHECKING:
    from lamina.dialects.relay.families import Array
    from lamina.dialects.te.build import Index, Scalar, Tensor

ROUNDINGS = ("None", "UPWARD", "TONEAREST")
COMPUTE_DTYPES = ("None", "int64", "float32", "float64")
FLOATS = ("float32", "float16", "float64")


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raises TypeMismatch unless the attribute has one of the values."""
    if value not in allowed:
        raise TypeMismatch(f"{name} {value!r} is none of {', '.join(allowed)}")


@irdl_op_definition
class MultiplierShiftOp(RelayOp):
    """input_scale / output_scale as multiplier / 2**shift, int64 both: multiplier in 2**30..2**31, shift in 0..62.

    A ratio below 2**-32 is 0 / 2**62, one above 2**31 is the greatest below it.
    """

    name = "relay.qnn.multiplier_shift"
    FUSION_KIND: ClassVar[OpPattern] = OpPattern.OPAQUE

    input_scale = operand_def()
    output_scale = operand_def()
    multiplier = result_def()
    shift = result_def()

    @staticmethod
    def infer_type(input_scale: TensorInfo, output_scale: TensorInfo) -> tuple[TensorInfo, TensorInfo]:
        if len(input_scale.shape) > 1:
            raise TypeMismatch(f"input_scale has shape {input_scale.shape}, expects one number or a list of them")
        qs.check_along("input_scale", input_scale, "float32", input_scale.shape, -1)
        qs.check_one("output_scale", output_scale, "float32")
        info = TensorInfo(input_scale.shape, "int64")
        return info, info

    @staticmethod
    def np_ref(input_scale: Array, output_scale: Array) -> tuple[Array, Array]:
        pairs = [qs.ref_ratio(float(s), float(output_scale.reshape(()))) for s in input_scale.reshape(-1)]
        multiplier, shift = np.asarray(pairs, np.int64).reshape(-1, 2).T
        return multiplier.reshape(input_scale.shape), shift.reshape(input_scale.shape)

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
            sample((2, 2), (), error="input_scale has shape (2, 2), expects one number or a list of them"),
            sample((2,), (2,), error="output_scale has shape (2,), expects one number"),
            sample(((2,), "float64"), (), error="input_scale is float64, expects float32"),
        ]  # fmt: skip


def rescaled(
    data: SSAValue, input_scale: SSAValue, output_scale: SSAValue, axis: int = -1, to_nearest: bool = False
) -> Any:
    """Integers (int64, of 32 bits) times input_scale / output_scale, rounded: ties go up, or away from zero."""
    if qs.same_constant(input_scale, output_scale):
        return data
    rank = qs.rank_of(data)
    multiplier, shift = r.qnn.multiplier_shift(input_scale, output_scale)
    multiplier, shift = qs.along(multiplier, axis, rank), qs.along(shift, axis, rank)
    half = r.right_shift(r.left_shift(qs.number(1, shift), shift), 1)
    if to_nearest:
        half = r.where(r.less(data, 0), r.maximum(r.subtract(half, 1), 0), half)
    return r.right_shift(r.add(r.multiply(data, multiplier), half), shift)


def requantized(
    data: SSAValue, scale: SSAValue, zero_point: SSAValue, output_scale: SSAValue, output_zero_point: SSAValue,
    axis: int = -1, dtype: str = "int64",
) -> Any:  # fmt: skip
    """`relay.qnn.requantize` of quantised ops that end or begin so: int64, or saturated to another dtype."""
    made = rescaled(_difference(data, zero_point, axis), scale, output_scale, axis)
    made = qs.shifted(made, output_zero_point)
    return made if dtype == "int64" else qs.saturated(made, dtype)


def ref_requantized(
    data: Array, scale: Array, zero_point: Array, output_scale: Array, output_zero_point: Array, axis: int = -1
) -> Array:
    """The oracle of `requantized`, as int64."""
    centred = np.clip(qs.ref_centred(data, zero_point, axis), *qs.limits("int32"))
    return qs.ref_rescaled(centred, scale, output_scale, axis, False) + int(output_zero_point.reshape(()))


def _difference(data: SSAValue, zero_point: SSAValue, axis: int) -> Any:
    """data - zero_point as int64, within 32 bits."""
    made = qs.centred(data, zero_point, axis, "int64")
    if qs.info_of(data).dtype in ("int32", "int64") and not (
        qs.info_of(data).dtype == "int32" and qs.is_zero(zero_point)
    ):
        low, high = qs.limits("int32")
        made = r.clip(made, a_min=float(low), a_max=float(high))
    return made


@irdl_op_definition
class RequantizeOp(RelayOp):
    """q' = round((q - input_zero_point) * input_scale / output_scale) + output_zero_point, saturated to `out_dtype`.

    `input_scale` and `input_zero_point` may be lists along `axis`. `rounding` says where ties go: UPWARD, or TONEAREST
    away from zero. `compute_dtype` int64 rescales in fixed point (see the file's docstring); with float32 or float64
    the product is one of floats and the zero point is added before rounding. "None" stands for UPWARD and int64.
    """

    name = "relay.qnn.requantize"
    FUSION_KIND: ClassVar[OpPattern] = OpPattern.ELEMWISE

    data = operand_def()
    input_scale = operand_def()
    input_zero_point = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()
    result = result_def()
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
        qs.check_along("input_scale", input_scale, "float32", data.shape, axis)
        qs.check_along("input_zero_point", input_zero_point, "int32", data.shape, axis)
        qs.check_scales("output", (output_scale, output_zero_point))
        one_of("rounding", rounding, ROUNDINGS)
        one_of("compute_dtype", compute_dtype, COMPUTE_DTYPES)
        return TensorInfo(data.shape, qs.check_out_dtype(out_dtype))

    @staticmethod
    def decompose(
        data: SSAValue, input_scale: SSAValue, input_zero_point: SSAValue,
        output_scale: SSAValue, output_zero_point: SSAValue,
        axis: int, rounding: str, compute_dtype: str, out_dtype: str,
    ) -> Any:  # fmt: skip
        to_nearest = rounding == "TONEAREST"
        centred = _difference(data, input_zero_point, axis)
        if compute_dtype in ("None", "int64"):
            made = qs.shifted(rescaled(centred, input_scale, output_scale, axis, to_nearest), output_zero_point)
            return qs.saturated(made, out_dtype)
        wide = r.divide(qs.cast(input_scale, "float64"), qs.cast(_scalar(output_scale), "float64"))
        ratio = qs.along(qs.cast(wide, compute_dtype), axis, qs.rank_of(data))
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
        to_nearest, zero = rounding == "TONEAREST", int(output_zero_point.reshape(()))
        centred = np.clip(qs.ref_centred(data, input_zero_point, axis), *qs.limits("int32"))
        if compute_dtype in ("None", "int64"):
            made = qs.ref_rescaled(centred, input_scale, output_scale, axis, to_nearest) + zero
            return qs.ref_saturated(made, out_dtype)
        ratio = (input_scale.astype(np.float64) / output_scale.astype(np.float64).reshape(())).astype(compute_dtype)
        product = centred.astype(compute_dtype) * qs.ref_along(ratio, axis, data.ndim)

        def one(value: float) -> int:
            twice = 2 * (Fraction(value) + zero)
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


def _scalar(value: SSAValue) -> Any:
    return r.reshape(value, newshape=()) if qs.info_of(value).shape else value


@irdl_op_definition
class QuantizeOp(RelayOp):
    """q = round(data / output_scale + output_zero_point) in f32, saturated to `out_dtype`; scales along `axis`.

    `rounding` TONEAREST sends halves away from zero, as TVM does; TONEVEN rounds data / output_scale by itself, halves
    to the even number, as ONNX and PyTorch do. NaN gives no particular value.
    """

    name = "relay.qnn.quantize"
    FUSION_KIND: ClassVar[OpPattern] = OpPattern.ELEMWISE

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
        qs.check_quantized("data", data, FLOATS)
        qs.check_along("output_scale", output_scale, "float32", data.shape, axis)
        qs.check_along("output_zero_point", output_zero_point, "int32", data.shape, axis)
        one_of("rounding", rounding, ("TONEAREST", "TONEVEN"))
        return TensorInfo(data.shape, qs.check_out_dtype(out_dtype))

    @staticmethod
    def decompose(
        data: SSAValue, output_scale: SSAValue, output_zero_point: SSAValue, axis: int, out_dtype: str, rounding: str
    ) -> Any:
        rank = qs.rank_of(data)
        scaled = r.divide(qs.cast(data, "float32"), qs.along(output_scale, axis, rank))
        zero = qs.cast(qs.along(output_zero_point, axis, rank), "float32")
        plain = qs.is_zero(output_zero_point)
        if rounding == "TONEVEN":
            made = r.round(scaled) if plain else r.add(r.round(scaled), zero)
        else:
            made = qs.rounded(scaled if plain else r.add(scaled, zero))
        if out_dtype == "int32":
            made = r.cast(made, dtype="float64")  # the bounds of int32 are no f32
        low, high = qs.limits(out_dtype)
        return r.cast(r.clip(made, a_min=float(low), a_max=float(high)), dtype=out_dtype)

    @staticmethod
    def np_ref(
        data: Array, output_scale: Array, output_zero_point: Array, axis: int, out_dtype: str, rounding: str
    ) -> Array:
        scale, zero = (qs.ref_along(a, axis, data.ndim) for a in (output_scale, output_zero_point))
        scaled = data.astype(np.float32) / scale
        if rounding == "TONEVEN":
            made = np.rint(scaled) + zero.astype(np.float32)
        else:
            made = qs.ref_rounded(scaled + zero.astype(np.float32))
        low, high = qs.limits(out_dtype)
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
            sample((5,), (1,), ((1,), "int32"), ranges=((-1e12, 1e12), (0.1, 0.2), (0, 0)),
                   attrs={"out_dtype": "int32"}),
            sample(((3,), "int8"), (), ((), "int32"), error="data is int8, expects float32"),
            sample((3,), (2,), ((), "int32"), error="output_scale has shape (2,), axis -1 has extent 3"),
            sample((3,), (3,), ((3,), "int32"), attrs={"axis": 1}, error="axis 1 is out of range for rank 1"),
            sample((3,), (), ((), "int32"), attrs={"rounding": "DOWN"}, error="rounding 'DOWN' is none of"),
            sample((3,), (), ((), "int32"), attrs={"out_dtype": "bool"}, error="out_dtype 'bool' is none of"),
        ]  # fmt: skip


@irdl_op_definition
class DequantizeOp(RelayOp):
    """real = (data - input_zero_point) * input_scale, computed in f32; scale and zero point along `axis`."""

    name = "relay.qnn.dequantize"
    FUSION_KIND: ClassVar[OpPattern] = OpPattern.ELEMWISE

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
        return TensorInfo(data.shape, qs.check_out_dtype(out_dtype, FLOATS))

    @staticmethod
    def decompose(
        data: SSAValue, input_scale: SSAValue, input_zero_point: SSAValue, axis: int, out_dtype: str
    ) -> Any:
        centred = qs.centred(data, input_zero_point, axis, "int32")
        real = r.multiply(r.cast(centred, dtype="float32"), qs.along(input_scale, axis, qs.rank_of(data)))
        return qs.cast(real, out_dtype)

    @staticmethod
    def np_ref(data: Array, input_scale: Array, input_zero_point: Array, axis: int, out_dtype: str) -> Array:
        centred = qs.ref_centred(data, input_zero_point, axis).astype(np.int32)
        return (centred.astype(np.float32) * qs.ref_along(input_scale, axis, data.ndim)).astype(out_dtype)

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], dtype: str, scales: int = 0, **attrs: Any) -> Sample:
            several = (scales,) if scales else ()
            low, high = (max(v, -9999) if v < 0 else min(v, 9999) for v in qs.limits(dtype))
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
