"""Quantised arithmetic of two tensors, and concatenation: operands are brought to the output's scale first.

With q' = q requantised to the output's scale and zero point z (ties up, in 64 bits):

    add        q'(lhs) + q'(rhs) - z          subtract   q'(lhs) - q'(rhs) + z
    mul        requantise((lhs - zl) * (rhs - zr)) from scale sl * sr, a product of f32

and all saturate in the end. Results have the dtype of the operands.
"""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.relay.qnn.rescale import ref_requantized, requantized, rescaled


class QnnBinary(RelayOp, fusion_kind=OpPattern.BROADCAST, dtypes=qs.QUANTIZED):
    """Two quantised tensors of one dtype that broadcast, each with its scale and zero point, and the output's.

    Those of an operand may be lists along its `lhs_axis` or `rhs_axis`.
    """

    lhs = operand_def()
    rhs = operand_def()
    lhs_scale = operand_def()
    lhs_zero_point = operand_def()
    rhs_scale = operand_def()
    rhs_zero_point = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()
    result = result_def()
    lhs_axis = int_prop(-1)
    rhs_axis = int_prop(-1)

    @classmethod
    def infer_type(
        cls, lhs: TensorInfo, rhs: TensorInfo, *scales: TensorInfo, lhs_axis: int, rhs_axis: int
    ) -> TensorInfo:
        dtype = qs.check_quantized("lhs", lhs, cls.DTYPES)
        same_dtype(lhs, rhs)
        for name, info, axis, n in (("lhs", lhs, lhs_axis, 0), ("rhs", rhs, rhs_axis, 2)):
            qs.check_along(f"{name}_scale", scales[n], "float32", info.shape, axis)
            qs.check_along(f"{name}_zero_point", scales[n + 1], "int32", info.shape, axis)
        qs.check_scales("output", scales[4:])
        return TensorInfo(broadcast_shapes(lhs.shape, rhs.shape), dtype)

    @classmethod
    def samples(cls) -> list[Sample]:
        def one(
            a: tuple[int, ...], b: tuple[int, ...], dtype: str = "int8", scales: tuple[int, int] = (0, 0),
            error: str | None = None, **attrs: Any,
        ) -> Sample:  # fmt: skip
            first, second = ((n,) if n else () for n in scales)
            bounds = (-90.0, 90.0) if not dtype.startswith("u") else (0.0, 255.0)
            return sample(
                (a, dtype), (b, dtype), first, (first, "int32"), second, (second, "int32"), (), ((), "int32"),
                ranges=(bounds, bounds, (0.01, 0.1), (-9, 9), (0.01, 0.1), (-9, 9), (0.02, 0.2), (-20, 20)),
                attrs=attrs, error=error,
            )  # fmt: skip

        found = [
            one((2, 3, 5), (2, 3, 5)), one((2, 3, 5), (5,), "uint8"), one((7, 1), (1, 3)), one((), (4, 1), "uint8"),
            one((1,), (1,)), one((3, 5), (3, 5), "int8", (5, 5)), one((33,), (33,), "uint8"), one((9,), (9,), "int16"),
            one((2, 3, 4), (2, 3, 4), "int8", (3, 3), lhs_axis=1, rhs_axis=-2),
            one((2, 3, 4), (3, 1), "int8", (0, 3), rhs_axis=0),
            one((2, 3), (2, 4), error="do not broadcast"), one((3,), (3,), "float32", error="lhs is float32, expects"),
            one((3,), (3,), "int8", (2, 0), error="lhs_scale has shape (2,), axis -1 has extent 3"),
            one((3,), (3,), "int8", (0, 3), rhs_axis=1, error="axis 1 is out of range for rank 1"),
        ]  # fmt: skip
        if "int32" in cls.DTYPES:
            found.append(one((5, 3), (3,), "int32"))
        return found


def _both(values: tuple[Any, ...], axes: dict[str, int]) -> tuple[Any, Any]:
    """Both operands requantised to the output's scale and zero point, int64."""
    lhs, rhs, lhs_scale, lhs_zero, rhs_scale, rhs_zero, scale, zero = values
    return (
        requantized(lhs, lhs_scale, lhs_zero, scale, zero, axes["lhs_axis"]),
        requantized(rhs, rhs_scale, rhs_zero, scale, zero, axes["rhs_axis"]),
    )


def _both_ref(values: tuple[Array, ...], axes: dict[str, int]) -> tuple[Array, Array, Array]:
    lhs, rhs, lhs_scale, lhs_zero, rhs_scale, rhs_zero, scale, zero = values
    first = ref_requantized(lhs, lhs_scale, lhs_zero, scale, zero, axes["lhs_axis"])
    second = ref_requantized(rhs, rhs_scale, rhs_zero, scale, zero, axes["rhs_axis"])
    return first, second, qs.ref_zero(zero)


def _zero(values: tuple[SSAValue, ...]) -> Any:
    return qs.cast(qs.along(values[7], 0, 0), "int64")


@irdl_op_definition
class QnnAddOp(QnnBinary):
    """The sum of two quantised tensors, quantised to the output's scale and zero point."""

    name = "relay.qnn.add"

    @staticmethod
    def decompose(*values: SSAValue, **axes: int) -> Any:
        lhs, rhs = _both(values, axes)
        total = r.add(lhs, rhs)
        return qs.saturated(total if qs.is_zero(values[7]) else r.subtract(total, _zero(values)), _dtype(values))

    @staticmethod
    def np_ref(*values: Array, **axes: int) -> Array:
        lhs, rhs, zero = _both_ref(values, axes)
        return qs.ref_saturated(lhs + rhs - zero, values[0].dtype.name)


@irdl_op_definition
class QnnSubtractOp(QnnBinary):
    """The difference of two quantised tensors, quantised to the output's scale and zero point."""

    name = "relay.qnn.subtract"

    @staticmethod
    def decompose(*values: SSAValue, **axes: int) -> Any:
        lhs, rhs = _both(values, axes)
        rest = r.subtract(lhs, rhs)
        return qs.saturated(rest if qs.is_zero(values[7]) else r.add(rest, _zero(values)), _dtype(values))

    @staticmethod
    def np_ref(*values: Array, **axes: int) -> Array:
        lhs, rhs, zero = _both_ref(values, axes)
        return qs.ref_saturated(lhs - rhs + zero, values[0].dtype.name)


def _dtype(values: tuple[SSAValue, ...]) -> str:
    return qs.info_of(values[0]).dtype


@irdl_op_definition
class QnnMulOp(QnnBinary, dtypes=("int8", "uint8", "int16")):
    """The product of two quantised tensors, quantised to the output's scale and zero point."""

    name = "relay.qnn.mul"

    @classmethod
    def infer_type(
        cls, lhs: TensorInfo, rhs: TensorInfo, *scales: TensorInfo, lhs_axis: int, rhs_axis: int
    ) -> TensorInfo:
        info = super().infer_type(lhs, rhs, *scales, lhs_axis=lhs_axis, rhs_axis=rhs_axis)
        _scales_axis(scales[0].shape, scales[2].shape, len(lhs.shape), len(rhs.shape), lhs_axis, rhs_axis)
        return info

    @staticmethod
    def decompose(*values: SSAValue, lhs_axis: int, rhs_axis: int) -> Any:
        lhs, rhs, lhs_scale, lhs_zero, rhs_scale, rhs_zero, scale, zero = values
        first = qs.centred(lhs, lhs_zero, lhs_axis, "int64")
        product = r.multiply(first, qs.centred(rhs, rhs_zero, rhs_axis, "int64"))
        if _dtype(values) == "int16":
            product = r.clip(product, a_min=-(2.0**31), a_max=2.0**31 - 1)
        shapes = qs.info_of(lhs_scale).shape, qs.info_of(rhs_scale).shape
        axis = _scales_axis(*shapes, rank_of(lhs), qs.rank_of(rhs), lhs_axis, rhs_axis)
        made = rescaled(product, r.multiply(lhs_scale, rhs_scale), scale, axis)
        return qs.saturated(qs.shifted(made, zero), _dtype(values))

    @staticmethod
    def np_ref(*values: Array, lhs_axis: int, rhs_axis: int) -> Array:
        lhs, rhs, lhs_scale, lhs_zero, rhs_scale, rhs_zero, scale, zero = values
        product = qs.ref_centred(lhs, lhs_zero, lhs_axis) * qs.ref_centred(rhs, rhs_zero, rhs_axis)
        product = np.clip(product, -(2**31), 2**31 - 1)
        axis = _scales_axis(lhs_scale.shape, rhs_scale.shape, lhs.ndim, rhs.ndim, lhs_axis, rhs_axis)
        made = qs.ref_rescaled(product, np.asarray(lhs_scale * rhs_scale), scale, axis, False) + qs.ref_zero(zero)
        return qs.ref_saturated(made, lhs.dtype.name)


def _scales_axis(
    lhs: tuple[int, ...], rhs: tuple[int, ...], lhs_rank: int, rhs_rank: int, lhs_axis: int, rhs_axis: int
) -> int:
    """The axis of the result, from its end, along which products of scales lie. Raises TypeMismatch for two axes."""
    found = {
        normalize_axis(axis, rank) - rank
        for shape, rank, axis in ((lhs, lhs_rank, lhs_axis), (rhs, rhs_rank, rhs_axis))
        if shape not in ((), (1,))
    }
    if len(found) > 1:
        raise TypeMismatch(f"lhs_axis {lhs_axis} and rhs_axis {rhs_axis} are different axes of the result")
    return found.pop() if found else -1


@irdl_op_definition
class QnnConcatenateOp(Injective):
    """The tensors one after the other along `axis`, each requantised to the output's scale and zero point.

    Operands: the n tensors, their n scales, their n zero points, output_scale, output_zero_point.
    """

    name = "relay.qnn.concatenate"

    inputs = var_operand_def(TensorType)
    axis = int_prop(0)

    @staticmethod
    def infer_type(*inputs: TensorInfo, axis: int) -> TensorInfo:
        count, rest = divmod(len(inputs) - 2, 3)
        if rest or count < 1:
            raise TypeMismatch(f"takes n tensors, n scales, n zero points and the output's two, got {len(inputs)}")
        data, scales, zeros = inputs[:count], inputs[count : 2 * count], inputs[2 * count : 3 * count]
        qs.check_quantized("data", data[0])
        for scale, zero in zip(scales, zeros, strict=True):
            qs.check_scales("input", (scale, zero))
        qs.check_scales("output", inputs[-2:])
        return r.concatenate.op.infer_type(*data, axis=axis)

    @staticmethod
    def decompose(*inputs: SSAValue, axis: int) -> Any:
        count = (len(inputs) - 2) // 3
        scale, zero = inputs[-2:]
        parts: list[Any] = []
        for data, s, z in zip(inputs[:count], inputs[count : 2 * count], inputs[2 * count : 3 * count], strict=True):
            kept = qs.same_constant(s, scale) and qs.same_constant(z, zero)
            parts.append(data if kept else requantized(data, s, z, scale, zero, dtype=qs.info_of(data).dtype))
        return r.concatenate(*parts, axis=axis)

    @staticmethod
    def np_ref(*inputs: Array, axis: int) -> Array:
        count = (len(inputs) - 2) // 3
        parts = [
            qs.ref_saturated(ref_requantized(data, s, z, inputs[-2], inputs[-1]), data.dtype.name)
            for data, s, z in zip(inputs[:count], inputs[count : 2 * count], inputs[2 * count : 3 * count], strict=True)
        ]
        return np.concatenate(parts, axis)

    @staticmethod
    def samples() -> list[Sample]:
        def one(*shapes: tuple[int, ...], dtype: str = "int8", error: str | None = None, **attrs: Any) -> Sample:
            n = len(shapes)
            bounds = (0.0, 255.0) if dtype == "uint8" else (-99.0, 99.0)
            return sample(
                *((s, dtype) for s in shapes), *(((),) * n), *((((), "int32"),) * n), (), ((), "int32"),
                ranges=((bounds,) * n + ((0.01, 0.1),) * n + ((-9, 9),) * n + ((0.02, 0.2), (-20, 20))),
                attrs=attrs, error=error,
            )  # fmt: skip

        return [
            one((2, 3), (4, 3)), one((2, 3, 5), (2, 1, 5), (2, 7, 5), axis=1, dtype="uint8"), one((7,)),
            one((2, 3), (2, 2), axis=-1), one((1, 1), (1, 1), axis=1), one((3,), (5,), dtype="int16"),
            one((3, 2), (1, 2), dtype="int32"), one((3,), (5,), (1,), (2,), dtype="uint8"),
            one((2, 3), (2, 4), error="differ outside axis 0"), one((3,), (2,), dtype="float32", error="is float32"),
            sample(((3,), "int8"), (), ((), "int32"), error="takes n tensors, n scales, n zero points"),
            sample(((3,), "int8"), (3,), ((), "int32"), (), ((), "int32"), error="input_scale has shape (3,)"),
        ]  # fmt: skip
