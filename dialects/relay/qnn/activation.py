"""Quantised leaky_relu, softmax and avg_pool2d: TVM's arithmetic in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from lamina.dialects.dtypes import integer_range
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.layout import axis_of
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.relay.qnn.rescale import ref_requantized, requantized
from lamina.dialects.relay.qnn.scales import QnnDataAndScales
from lamina.dialects.relay.window_fields import PoolFields2d
from lamina.dialects.relay.windows import pairs

T = TypeVar("T")


def one_sample(
    shape: tuple[int, ...], dtype: str = "int8", error: str | None = None, scale: float = 0.02, **attrs: Any
) -> Sample:
    """Data with an input's and an output's scale and zero point."""
    bounds = (-99.0, 99.0) if not dtype.startswith("u") else (0.0, 255.0)
    return sample(
        (shape, dtype), (), ((), "int32"), (), ((), "int32"), attrs=attrs, error=error,
        ranges=(bounds, (scale, 2 * scale), (-9, 9), (0.01, 0.05), (-20, 20)),
    )  # fmt: skip


def four(scales: tuple[T, ...]) -> tuple[T, T, T, T]:
    """The scale and zero point of an input and of the output."""
    scale, zero_point, output_scale, output_zero_point = scales
    return scale, zero_point, output_scale, output_zero_point


@irdl_op_definition
class QnnLeakyReluOp(Opaque, QnnDataAndScales):
    """q where q >= z, else alpha * q + (1 - alpha) * z, of q requantised to the output's scale and zero point z.

    Both products are rounded by themselves, ties up, with 31 bits of alpha. Saturated to the dtype of the data.
    """

    name = "relay.qnn.leaky_relu"

    alpha = float_prop(0.25)

    @staticmethod
    def infer_type(data: TensorInfo, *scales: TensorInfo, alpha: float) -> TensorInfo:
        dtype = qs.check_quantized("data", data)
        qs.check_scales("input output", scales)
        if not 0 <= alpha <= 1:
            raise TypeMismatch(f"alpha {alpha} is not in 0..1")
        return TensorInfo(data.shape, dtype)

    @staticmethod
    def decompose(data: SSAValue, *scales: SSAValue, alpha: float) -> Any:
        made = requantized(data, *four(scales))
        zero = qs.cast(qs.along(scales[3], 0, 0), "int64")

        def times(value: Any, factor: float) -> Any:
            multiplier, shift = qs.ref_ratio(factor, 1.0)
            return r.right_shift(r.add(r.multiply(value, multiplier), (1 << shift) >> 1), shift)

        low, high = integer_range("int32")
        made = r.clip(made, a_min=float(low), a_max=float(high))
        negative = r.add(times(made, alpha), times(zero, 1 - alpha))
        return qs.saturated(r.where(r.less(made, zero), negative, made), qs.info_of(data).dtype)

    @staticmethod
    def np_ref(data: Array, *scales: Array, alpha: float) -> Array:
        zero = int(scales[3].reshape(()))

        def bits(factor: float) -> Fraction:
            """The factor with 31 significant bits."""
            unit = Fraction(1)
            while factor and Fraction(factor) < unit:
                unit /= 2
            unit /= 2**30
            return (Fraction(factor) / unit + Fraction(1, 2)).__floor__() * unit

        low, high = bits(alpha), (bits(1 - alpha) * zero + Fraction(1, 2)).__floor__()

        def one(q: int) -> int:
            return q if q >= zero else (low * q + Fraction(1, 2)).__floor__() + high

        made = np.clip(ref_requantized(data, *four(scales)), *integer_range("int32"))
        found = [one(int(q)) for q in made.reshape(-1)]
        return qs.ref_saturated(np.asarray(found, np.int64).reshape(data.shape), data.dtype.name)

    @staticmethod
    def samples() -> list[Sample]:
        one = one_sample
        return [
            one((2, 3, 5)), one((7,), "uint8", alpha=0.1), one((1,)), one((), alpha=0.5), one((33,), alpha=0.01),
            one((9,), "int16", alpha=0.3), one((3, 5), "int32", alpha=0.0), one((31,), "uint8", alpha=1.0),
            one((3,), "float32", "data is float32, expects int8"), one((3,), error="alpha 2.0 is not in", alpha=2.0),
        ]  # fmt: skip


@irdl_op_definition
class QnnSoftmaxOp(Opaque):
    """The softmax along `axis`, in shifts and integer quotients (arXiv 2207.01405, algorithm 1), as TVM computes it.

    With u = round(1 / scale), the data's units in 1, and x the distance to the greatest element in units, exp(x / u) is
    taken as (1 - r/2) * 2**-q for x / u * 1.4375 = -(q + r). A coarse approximation; scales above 1 count as 1.
    """

    name = "relay.qnn.softmax"

    data = operand_def()
    scale = operand_def()
    zero_point = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()
    axis = int_prop(-1)

    @staticmethod
    def infer_type(data: TensorInfo, *scales: TensorInfo, axis: int) -> TensorInfo:
        dtype = qs.check_quantized("data", data, qs.NARROW)
        qs.check_scales("input output", scales)
        if not data.shape or data.shape[normalize_axis(axis, len(data.shape))] == 0:
            raise TypeMismatch("softmax of no elements")
        return TensorInfo(data.shape, dtype)

    @staticmethod
    def decompose(
        data: SSAValue, scale: SSAValue, zero_point: SSAValue, output_scale: SSAValue, output_zero_point: SSAValue,
        axis: int,
    ) -> Any:  # fmt: skip
        def greatest(value: Any) -> Any:
            return r.max(value, axis=[axis], keepdims=True)

        scale = qs.along(scale, 0, 0)
        unit = r.cast(qs.rounded(r.divide(number(1.0, scale), scale)), dtype="int64")
        unit = r.maximum(unit, 1)
        wide = r.cast(data, dtype="int64")
        x = r.subtract(wide, greatest(wide))
        log2 = r.subtract(r.add(x, r.right_shift(x, 1)), r.right_shift(x, 4))
        back = r.negative(unit)
        q = r.clip(r.floor_divide(log2, back), a_min=0.0, a_max=20.0)
        rest = r.subtract(log2, r.multiply(q, back))
        powers = r.left_shift(r.add(r.right_shift(rest, 1), unit), r.subtract(greatest(q), q))
        total = r.sum(powers, axis=[axis], keepdims=True)
        share = r.floor_divide(number(1 << 30, total), total)
        made = r.right_shift(r.multiply(share, powers), 23)
        part, nothing = number(1 / 128, scale), qs.number(0, zero_point)
        made = r.cast(made, dtype="int32")
        return requantized(
            made, part, qs.along(nothing, 0, 0), output_scale, output_zero_point, dtype=qs.info_of(data).dtype
        )

    @staticmethod
    def np_ref(
        data: Array, scale: Array, zero_point: Array, output_scale: Array, output_zero_point: Array, axis: int
    ) -> Array:
        # Distances have 9 bits and powers 20 more than the unit: 64 are enough unless a scale is below 2**-30.
        unit = np.maximum(qs.ref_rounded(np.float32(1) / scale.reshape(()).astype(np.float32)).astype(np.int64), 1)
        distance = data.astype(np.int64) - data.max(axis, keepdims=True)
        log = distance + distance // 2 - distance // 16
        quotient = np.minimum(-log // unit, 20)
        power = ((log + quotient * unit) // 2 + unit) * 2 ** (quotient.max(axis, keepdims=True) - quotient)
        made = 2**30 // power.sum(axis, keepdims=True) * power // 2**23
        part = np.asarray(1 / 128, np.float32)
        out = ref_requantized(made, part, np.asarray(0, np.int32), output_scale, output_zero_point)
        return qs.ref_saturated(out, data.dtype.name)

    @staticmethod
    def samples() -> list[Sample]:
        one = one_sample
        return [
            one((2, 3, 5)), one((7,), "uint8"), one((1,)), one((3, 4), axis=0), one((2, 5, 3), axis=-2),
            one((33,), "uint8", scale=0.1), one((2, 65), scale=0.3), one((4, 1), scale=0.9, axis=0),
            one((2, 9), scale=2.0), one((3,), "int16", "data is int16, expects int8 or uint8"),
            one((3,), error="axis 1 is out of range for rank 1", axis=1), one((2, 0), error="softmax of no elements"),
        ]  # fmt: skip


@irdl_op_definition
class QnnAvgPool2dOp(RelayOp, QnnDataAndScales, PoolFields2d, layouts=("layout", "", "", "", "")):
    """The truncated mean of each window of the data requantised to the output's scale and zero point.

    `count_include_pad` counts padding as the real zero, which is the zero point.
    """

    name = "relay.qnn.avg_pool2d"
    FUSION_KIND: ClassVar[OpPattern] = OpPattern.OUT_ELEMWISE_FUSABLE

    count_include_pad = bool_prop(False)

    @staticmethod
    def infer_type(data: TensorInfo, *scales: TensorInfo, **attrs: Any) -> TensorInfo:
        qs.check_quantized("data", data, ("int8", "uint8", "int16"))
        qs.check_scales("input output", scales)
        return r.nn.avg_pool2d.op.infer_type(data, **attrs)

    @staticmethod
    def decompose(data: SSAValue, *scales: SSAValue, **attrs: Any) -> Any:
        dtype = qs.info_of(data).dtype
        same = qs.same_constant(scales[0], scales[2]) and qs.same_constant(scales[1], scales[3])
        made = r.cast(data, dtype="int32") if same else requantized(data, *four(scales), dtype="int32")
        pooled = r.nn.avg_pool2d.op.infer_type(qs.info_of(data), **attrs).shape
        before, after = pairs(attrs["padding"], 2)
        if attrs["count_include_pad"] and any((*before, *after)):
            widths = [0] * (2 * rank_of(data))
            for letter, low, high in zip("HW", before, after, strict=True):
                axis = axis_of(attrs["layout"], letter)
                widths[2 * axis], widths[2 * axis + 1] = low, high
            made = qs.shifted(r.nn.pad(qs.centred(made, scales[3], 0, "int32"), pad_width=widths), scales[3])
            attrs = attrs | {"padding": (0, 0), "count_include_pad": False}
        made = r.nn.avg_pool2d(made, **attrs)
        if qs.info_of(made).shape != pooled:
            # A last window that begins in the padding, which is data now.
            made = r.strided_slice(made, begin=(0,) * len(pooled), end=pooled)
        return qs.saturated(made, dtype)

    @staticmethod
    def np_ref(data: Array, *scales: Array, **attrs: Any) -> Array:
        zero = qs.ref_zero(scales[3])
        made = np.clip(ref_requantized(data, *four(scales)), *integer_range("int32")) - zero
        # The mean of q is that of (q - zero) plus zero, exact in f64; truncation is of q.
        exact: Array = r.nn.avg_pool2d.op.np_ref(made.astype(np.float64), **attrs)
        return qs.ref_saturated(np.trunc(np.round(exact + zero, 9)).astype(np.int64), data.dtype.name)

    @staticmethod
    def samples() -> list[Sample]:
        one, x = one_sample, (1, 3, 7, 6)
        found = [
            one(x, pool_size=[2, 2]), one(x, "uint8", pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]),
            one(x, pool_size=[3, 2], padding=[0, 1, 2, 0], count_include_pad=True),
            one(x, "uint8", pool_size=[3, 3], strides=[2, 2], ceil_mode=True, padding=[1, 1]),
            one(x, pool_size=[3, 3], strides=[2, 2], ceil_mode=True, padding=[1, 1], count_include_pad=True),
            one(x, pool_size=[9, 8], strides=[9, 9], ceil_mode=True, padding=[1, 0, 0, 2], count_include_pad=True),
            one((1, 2, 3, 6), pool_size=[2, 2], strides=[3, 2], ceil_mode=True, padding=[0, 0, 1, 1],
                count_include_pad=True),
            one((2, 5, 4, 3), "uint8", pool_size=[2, 2], layout="NHWC", padding=[1, 0], count_include_pad=True),
            one(x, pool_size=[3, 2], dilation=[2, 3], padding=[1, 1]), one((1, 1, 1, 1), pool_size=[1, 1]),
            one((1, 2, 5, 5), "int16", pool_size=[5, 5]),
            one(x, pool_size=[8, 2], error="kernel of 8 does not fit into the padded input of 7"),
            one(x, "int32", pool_size=[2, 2], error="data is int32, expects int8 or uint8 or int16"),
            sample((x, "int8"), (3,), ((), "int32"), (), ((), "int32"), attrs={"pool_size": [2, 2]},
                   error="input_scale has shape (3,), expects one number"),
        ]  # fmt: skip
        return found
