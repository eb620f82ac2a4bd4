"""Tensors whose size is an operand: relay.dyn.full, zeros, ones, one_hot, and relay.dyn.topk."""

from __future__ import annotations

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.dyn.views import OPEN, BecomesTwin, DynamicOp, count_of, one_number
from lamina.dialects.relay.shape.fill import known_dtype
from lamina.dialects.relay.shape.sort import TopkFields


@irdl_op_definition
class DynFullOp(DynamicOp, fusion_kind=OpPattern.ELEMWISE):
    """relay.full of a shape that is computed."""

    name = "relay.dyn.full"
    fill_value = operand_def(TensorType)
    shape = operand_def(TensorType)
    dtype = str_prop("")

    @staticmethod
    def infer_type(fill_value: TensorInfo, shape: TensorInfo, dtype: str) -> TensorInfo:
        if fill_value.shape:
            raise TypeMismatch(f"fill_value has shape {fill_value.shape}, expected a scalar")
        return TensorInfo((OPEN,) * count_of(shape, "shape"), known_dtype(dtype or fill_value.dtype))


class _DynConstant(DynamicOp, needed=(0,), fusion_kind=OpPattern.ELEMWISE):
    """A tensor of one value, of a shape that is computed."""

    shape = operand_def(TensorType)
    dtype = str_prop("float32")

    @staticmethod
    def infer_type(shape: TensorInfo, dtype: str) -> TensorInfo:
        return TensorInfo((OPEN,) * count_of(shape, "shape"), known_dtype(dtype))


@irdl_op_definition
class DynZerosOp(_DynConstant):
    """relay.zeros of a shape that is computed."""

    name = "relay.dyn.zeros"


@irdl_op_definition
class DynOnesOp(_DynConstant):
    """relay.ones of a shape that is computed."""

    name = "relay.dyn.ones"


@irdl_op_definition
class DynOneHotOp(DynamicOp, needed=(3,), fusion_kind=OpPattern.OUT_ELEMWISE_FUSABLE):
    """relay.one_hot of a depth that is computed."""

    name = "relay.dyn.one_hot"
    indices = operand_def(TensorType)
    on_value = operand_def(TensorType)
    off_value = operand_def(TensorType)
    depth = operand_def(TensorType)
    axis = int_prop(-1)

    @staticmethod
    def infer_type(
        indices: TensorInfo, on_value: TensorInfo, off_value: TensorInfo, depth: TensorInfo, axis: int
    ) -> TensorInfo:
        check_dtype(indices.dtype, INTEGERS)
        one_number(depth, "depth")
        if on_value.shape or off_value.shape or on_value.dtype != off_value.dtype:
            raise TypeMismatch(f"on_value {on_value} and off_value {off_value} are not scalars of one type")
        place = normalize_axis(axis, len(indices.shape) + 1)
        return TensorInfo((*indices.shape[:place], OPEN, *indices.shape[place:]), on_value.dtype)


@irdl_op_definition
class DynTopkOp(BecomesTwin, TopkFields):
    """relay.topk of a number that is computed; all where it is below 1."""

    name = "relay.dyn.topk"
    data = operand_def(TensorType)
    k = operand_def(TensorType)

    @staticmethod
    def infer_type(
        data: TensorInfo, k: TensorInfo, axis: int, ret_type: str, is_ascend: bool, dtype: str
    ) -> tuple[TensorInfo, ...]:
        one_number(k, "k")
        place = normalize_axis(axis, len(data.shape))
        shape = (*data.shape[:place], OPEN, *data.shape[place + 1 :])
        values, indices = TensorInfo(shape, data.dtype), TensorInfo(shape, known_dtype(dtype))
        found = {"both": (values, indices), "values": (values,), "indices": (indices,)}.get(ret_type)
        if found is None:
            raise TypeMismatch(f"ret_type {ret_type!r} is none of 'both', 'values', 'indices'")
        return found
