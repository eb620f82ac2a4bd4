"""relay.dyn.nn.pad and relay.dyn.nn.upsampling: how far to pad, how often to repeat are operands."""

from __future__ import annotations

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.dyn.views import OPEN, DynamicOp
from lamina.dialects.relay.layout import axis_of, extents


@irdl_op_definition
class DynPadOp(DynamicOp, renamed={"pad_val": "pad_value"}, needed=(1, 2), fusion_kind=OpPattern.INJECTIVE):
    """relay.nn.pad by a computed [before, after] for each axis, with a computed scalar."""

    name = "relay.dyn.nn.pad"
    data = operand_def(TensorType)
    pad_width = operand_def(TensorType)
    pad_val = operand_def(TensorType)
    pad_mode = str_prop("constant")

    @staticmethod
    def infer_type(data: TensorInfo, pad_width: TensorInfo, pad_val: TensorInfo, pad_mode: str) -> TensorInfo:
        check_dtype(pad_width.dtype, INTEGERS)
        rank = len(data.shape)
        if pad_width.shape != (rank, 2):
            raise TypeMismatch(f"pad_width has shape {pad_width.shape}, data of rank {rank} needs ({rank}, 2)")
        if pad_val.shape:
            raise TypeMismatch(f"pad_val has shape {pad_val.shape}, expected a scalar")
        return TensorInfo((OPEN,) * rank, data.dtype)


@irdl_op_definition
class DynUpsamplingOp(DynamicOp, needed=(1, 2), computes=True, fusion_kind=OpPattern.INJECTIVE):
    """relay.nn.upsampling by computed scales."""

    name = "relay.dyn.nn.upsampling"
    data = operand_def(TensorType)
    scale_h = operand_def(TensorType)
    scale_w = operand_def(TensorType)
    layout = str_prop("NCHW")
    method = str_prop("nearest_neighbor")
    align_corners = bool_prop(False)

    @staticmethod
    def infer_type(
        data: TensorInfo,
        scale_h: TensorInfo,
        scale_w: TensorInfo,
        layout: str,
        method: str,
        align_corners: bool,
    ) -> TensorInfo:
        extents(layout, data.shape)
        for scale, what in ((scale_h, "scale_h"), (scale_w, "scale_w")):
            check_dtype(scale.dtype, FLOATS + INTEGERS)
            if scale.shape not in ((), (1,)):
                raise TypeMismatch(f"{what} is one number, got shape {scale.shape}")
        shape = list(data.shape)
        for letter in "HW":
            shape[axis_of(layout, letter)] = OPEN
        return TensorInfo(tuple(shape), data.dtype)
