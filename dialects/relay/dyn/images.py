"""relay.dyn.image.resize2d and relay.dyn.nn.upsampling3d: the new size of an image is an operand."""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.dyn.views import OPEN, DynamicOp, count_of
from lamina.dialects.relay.image.resize import ResizeFields
from lamina.dialects.relay.layout import axis_of, extents


@irdl_op_definition
class DynResize2dOp(DynamicOp, ResizeFields, needed=(1, 2), computes=True, fusion_kind=OpPattern.INJECTIVE):
    """relay.image.resize2d to a computed size [H, W], of a computed window [y0, x0, y1, x1]."""

    name = "relay.dyn.image.resize2d"
    data = operand_def(TensorType)
    size = operand_def(TensorType)
    roi = operand_def(TensorType)
    layout = str_prop("NCHW")

    @staticmethod
    def infer_type(data: TensorInfo, size: TensorInfo, roi: TensorInfo, **attrs: Any) -> TensorInfo:
        layout = attrs["layout"]
        extents(layout, data.shape)
        if count_of(size, "size") != 2:
            raise TypeMismatch(f"size has {size.shape[0]} numbers, expects 2")
        check_dtype(roi.dtype, FLOATS)
        if roi.shape != (4,):
            raise TypeMismatch(f"roi has shape {roi.shape}, expects 4 numbers")
        shape = list(data.shape)
        for letter in "HW":
            shape[axis_of(layout, letter)] = OPEN
        return TensorInfo(tuple(shape), attrs["out_dtype"] or data.dtype)


@irdl_op_definition
class DynUpsampling3dOp(DynamicOp, needed=(1, 2, 3), computes=True, fusion_kind=OpPattern.INJECTIVE):
    """relay.nn.upsampling3d by computed scales."""

    name = "relay.dyn.nn.upsampling3d"
    data = operand_def(TensorType)
    scale_d = operand_def(TensorType)
    scale_h = operand_def(TensorType)
    scale_w = operand_def(TensorType)
    layout = str_prop("NCDHW")
    method = str_prop("nearest_neighbor")
    coordinate_transformation_mode = str_prop("half_pixel")

    @staticmethod
    def infer_type(data: TensorInfo, *scales: TensorInfo, **attrs: Any) -> TensorInfo:
        layout = attrs["layout"]
        extents(layout, data.shape)
        shape = list(data.shape)
        for scale, letter in zip(scales, "DHW", strict=True):
            check_dtype(scale.dtype, FLOATS + INTEGERS)
            if scale.shape not in ((), (1,)):
                raise TypeMismatch(f"scale_{letter.lower()} is one number, got shape {scale.shape}")
            shape[axis_of(layout, letter)] = OPEN
        return TensorInfo(tuple(shape), data.dtype)
