"""Quantisation simulated in floats, of a dtype that is a run-time number: 0 none, 1 int8, 2 uint8, 3 int32.

relay.relay.op.annotation.simulated_quantize, which TVM's annotation of whole models inserts, has bounds instead.
"""

from __future__ import annotations

from typing import Any

from lamina.dialects.dtypes import integer_range
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.qnn import scales as qs

CODES = ("disable", "int8", "uint8", "int32")
"""TVM's numbers for dtypes are the places in this list."""


def _type(data: TensorInfo, code: TensorInfo, scale: TensorInfo, zero: TensorInfo, whose: str, axis: int) -> TensorInfo:
    qs.check_quantized("data", data, ("float32",))
    qs.check_one("out_dtype" if whose == "output" else "in_dtype", code, "int32")
    qs.check_along(f"{whose}_scale", scale, "float32", data.shape, axis)
    qs.check_along(f"{whose}_zero_point", zero, "int32", data.shape, axis)
    return data


def _samples(code: str) -> list[Sample]:
    def one(shape: tuple[int, ...], number: int, scales: int = 0, **attrs: Any) -> Sample:
        several = (scales,) if scales else ()
        return sample(
            shape, ((), "int32"), several, (several, "int32"), attrs=attrs,
            ranges=((-9, 9), (number, number), (0.01, 0.1), (-20, 20)),
        )  # fmt: skip

    return [
        one((2, 3, 5), 1), one((7,), 2, 7), one((1,), 3), one((), 0), one((2, 5, 3), 1, 5, axis=1),
        one((3, 4), 2, 3, axis=-2), one((33,), 3), one((4, 4), 0, 4), one((9,), 7),
        sample(((3,), "int8"), ((), "int32"), (), ((), "int32"), error="data is int8, expects float32"),
        sample((3,), ((2,), "int32"), (), ((), "int32"), error=f"{code} has shape (2,), expects one number"),
        sample((3,), ((), "int32"), (2,), ((), "int32"), error="_scale has shape (2,), axis -1 has extent 3"),
    ]  # fmt: skip


@irdl_op_definition
class SimulatedQuantizeOp(RelayOp, fusion_kind=OpPattern.ELEMWISE):
    """round(data / scale) + zero_point within the bounds of the dtype whose number `out_dtype` is, as f32.

    Halves go away from zero. Of any other number the data itself. Scale and zero point may be lists along `axis`.
    """

    name = "relay.qnn.simulated_quantize"

    data = operand_def()
    out_dtype = operand_def()
    output_scale = operand_def()
    output_zero_point = operand_def()
    result = result_def()
    axis = int_prop(-1)

    @staticmethod
    def infer_type(
        data: TensorInfo, out_dtype: TensorInfo, output_scale: TensorInfo, output_zero_point: TensorInfo, axis: int
    ) -> TensorInfo:
        return _type(data, out_dtype, output_scale, output_zero_point, "output", axis)

    @staticmethod
    def decompose(
        data: SSAValue, out_dtype: SSAValue, output_scale: SSAValue, output_zero_point: SSAValue, axis: int
    ) -> Any:
        rank, code = rank_of(data), qs.along(out_dtype, 0, 0)
        whole = qs.rounded(r.divide(data, qs.along(output_scale, axis, rank)))
        shifted = qs.shifted(whole, output_zero_point, axis)
        made: Any = data
        for number, dtype in enumerate(CODES[1:], 1):
            low, high = integer_range(dtype)
            bounded = r.clip(shifted, a_min=float(low), a_max=float(high))
            made = r.where(r.equal(code, number), bounded, made)
        return made

    @staticmethod
    def np_ref(data: Array, out_dtype: Array, output_scale: Array, output_zero_point: Array, axis: int) -> Array:
        scale, zero = (qs.ref_along(a, axis, data.ndim) for a in (output_scale, output_zero_point))
        whole = qs.ref_rounded(data / scale) + zero.astype(np.float32)
        codes = [out_dtype.reshape(()) == code for code in (1, 2, 3)]
        bounds = [np.asarray(integer_range(CODES[code]), np.float32) for code in (1, 2, 3)]
        return np.select(codes, [np.clip(whole, low, high) for low, high in bounds], data)

    @staticmethod
    def samples() -> list[Sample]:
        return _samples("out_dtype")


@irdl_op_definition
class SimulatedDequantizeOp(RelayOp, fusion_kind=OpPattern.ELEMWISE):
    """(data - zero_point) * scale in f32; the data itself where the number `in_dtype` is that of no dtype."""

    name = "relay.qnn.simulated_dequantize"

    data = operand_def()
    in_dtype = operand_def()
    input_scale = operand_def()
    input_zero_point = operand_def()
    result = result_def()
    axis = int_prop(-1)

    @staticmethod
    def infer_type(
        data: TensorInfo, in_dtype: TensorInfo, input_scale: TensorInfo, input_zero_point: TensorInfo, axis: int
    ) -> TensorInfo:
        return _type(data, in_dtype, input_scale, input_zero_point, "input", axis)

    @staticmethod
    def decompose(
        data: SSAValue, in_dtype: SSAValue, input_scale: SSAValue, input_zero_point: SSAValue, axis: int
    ) -> Any:
        code = qs.along(in_dtype, 0, 0)
        centred = qs.centred(data, input_zero_point, axis, "float32")
        real = r.multiply(centred, qs.along(input_scale, axis, rank_of(data)))
        known = r.logical_and(r.greater_equal(code, 1), r.less_equal(code, len(CODES) - 1))
        return r.where(known, real, data)

    @staticmethod
    def np_ref(data: Array, in_dtype: Array, input_scale: Array, input_zero_point: Array, axis: int) -> Array:
        scale, zero = (qs.ref_along(a, axis, data.ndim) for a in (input_scale, input_zero_point))
        return np.where(np.isin(in_dtype.reshape(()), (1, 2, 3)), (data - zero.astype(np.float32)) * scale, data)

    @staticmethod
    def samples() -> list[Sample]:
        return _samples("in_dtype")


KINDS = ("identity", "input", "weight", "activation")
"""Meanings of `kind`, by number. Only the first makes a difference to the values."""
ROUNDINGS = ("round", "floor", "ceil")


@irdl_op_definition
class AnnotatedSimulatedQuantizeOp(Opaque):
    """round(min(max(data / dom_scale, clip_min), clip_max)) * dom_scale; the data itself where `kind` is 0, identity.

    Halves go to even numbers, as in relay.round; `rounding` may also be floor or ceil. `sign` is for who reads the
    program: the bounds say which numbers there are.
    """

    name = "relay.relay.op.annotation.simulated_quantize"

    data = operand_def()
    dom_scale = operand_def()
    clip_min = operand_def()
    clip_max = operand_def()
    kind = int_prop()
    sign = bool_prop(True)
    rounding = str_prop("round")

    @staticmethod
    def infer_type(
        data: TensorInfo,
        dom_scale: TensorInfo,
        clip_min: TensorInfo,
        clip_max: TensorInfo,
        kind: int,
        sign: bool,
        rounding: str,
    ) -> TensorInfo:
        qs.check_quantized("data", data, ("float32",))
        for what, info in (("dom_scale", dom_scale), ("clip_min", clip_min), ("clip_max", clip_max)):
            qs.check_one(what, info, "float32")
        if not 0 <= kind < len(KINDS):
            raise TypeMismatch(f"kind is {kind}, expects 0 to {len(KINDS) - 1}: {', '.join(KINDS)}")
        if rounding not in ROUNDINGS:
            raise TypeMismatch(f"rounding is {rounding!r}, expects one of {', '.join(ROUNDINGS)}")
        return data

    @staticmethod
    def decompose(
        data: SSAValue,
        dom_scale: SSAValue,
        clip_min: SSAValue,
        clip_max: SSAValue,
        kind: int,
        sign: bool,
        rounding: str,
    ) -> Any:
        if kind == 0:
            return r.copy(data)
        scale, low, high = (qs.along(v, 0, 0) for v in (dom_scale, clip_min, clip_max))
        bounded = r.maximum(r.minimum(r.divide(data, scale), high), low)
        rounded = {"round": r.round, "floor": r.floor, "ceil": r.ceil}[rounding](bounded)
        return r.multiply(rounded, scale)

    @staticmethod
    def np_ref(
        data: Array, dom_scale: Array, clip_min: Array, clip_max: Array, kind: int, sign: bool, rounding: str
    ) -> Array:
        if kind == 0:
            return np.copy(data)
        scale, low, high = (a.reshape(()) for a in (dom_scale, clip_min, clip_max))
        bounded = np.maximum(np.minimum(data / scale, high), low)
        return {"round": np.rint, "floor": np.floor, "ceil": np.ceil}[rounding](bounded) * scale

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], kind: int, scale: float = 0.25, bound: int = 127, **attrs: Any) -> Sample:
            return sample(
                shape, (), (), (), attrs={"kind": kind, **attrs},
                ranges=((-9, 9), (scale, scale), (-bound, -bound), (bound, bound)),
            )  # fmt: skip

        return [
            one((2, 3, 5), 1), one((7,), 2, 0.5), one((1,), 3, 1.0), one((), 0), one((33,), 1, 0.0625, 15),
            one((4, 4), 0, 2.0), one((2, 1, 3), 2, 4.0), one((65,), 3, 2.0, 2),
            one((5,), 1, sign=False, rounding="floor"), one((3, 7), 3, 0.5, 4, rounding="ceil"),
            sample(((3,), "int8"), (), (), (), attrs={"kind": 1}, error="data is int8, expects float32"),
            sample((3,), (2,), (), (), attrs={"kind": 1}, error="dom_scale has shape (2,), expects one number"),
            sample((3,), (), (), (), attrs={"kind": 4}, error="kind is 4, expects 0 to 3: identity, input, weight"),
            sample((3,), (), (), (), attrs={"kind": 1, "rounding": "up"}, error="rounding is 'up', expects one of"),
        ]  # fmt: skip
