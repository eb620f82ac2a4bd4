"""Quantised transposed convolution."""

from __future__ import annotations

from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.layout import axis_of
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.relay.qnn.conv import check_convolution
from lamina.dialects.relay.qnn.products import dense_sample
from lamina.dialects.relay.qnn.scales import QnnDataAndWeight
from lamina.dialects.relay.window_fields import ConvolutionFields2d


@irdl_op_definition
class QnnConv2dTransposeOp(Opaque, QnnDataAndWeight, ConvolutionFields2d):
    """nn.conv2d_transpose of (data - input_zero_point) and (weight - kernel_zero_point), in 32 bits.

    The scale of the result is input_scale * kernel_scale and its zero point 0: the scales are carried, not used.
    `kernel_zero_point` and `kernel_scale` may have one number for each place along the weight's axis O.
    """

    name = "relay.qnn.conv2d_transpose"
    LAYOUTS: ClassVar[tuple[str, ...]] = ("data_layout", "kernel_layout", "", "", "", "")

    channels = opt_prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)
    output_padding = ints_prop((0, 0))
    kernel_layout = prop_def(StringAttr, default_value=StringAttr("IOHW"))
    out_dtype = prop_def(StringAttr, default_value=StringAttr("int32"))

    @staticmethod
    def infer_type(data: TensorInfo, weight: TensorInfo, *scales: TensorInfo, **attrs: Any) -> TensorInfo:
        info = r.nn.conv2d_transpose.op.infer_type(data, weight, **attrs)
        check_convolution(data, weight, scales, axis_of(attrs["kernel_layout"], "O"), attrs["out_dtype"])
        return info

    @staticmethod
    def decompose(data: SSAValue, weight: SSAValue, a: SSAValue, b: SSAValue, *_: SSAValue, **attrs: Any) -> Any:
        if not qs.is_zero(a):
            data = qs.centred(data, a, 0, attrs["out_dtype"])
        if not qs.is_zero(b):
            weight = qs.centred(weight, b, axis_of(attrs["kernel_layout"], "O"), attrs["out_dtype"])
        return r.nn.conv2d_transpose(data, weight, **attrs)

    @staticmethod
    def np_ref(data: Array, weight: Array, *scales: Array, **attrs: Any) -> Array:
        x = qs.ref_centred(data, scales[0])
        w = qs.ref_centred(weight, scales[1], axis_of(attrs["kernel_layout"], "O"))
        whole = attrs | {"out_dtype": "int64"}
        return r.nn.conv2d_transpose.op.np_ref(x, w, **whole).astype(attrs["out_dtype"])

    @staticmethod
    def samples() -> list[Sample]:
        one, x, w = dense_sample, (1, 3, 5, 4), (3, 4, 3, 3)
        return [
            one(x, w),
            one(x, w, "uint8 int8", 4, padding=[1, 1, 1, 1], kernel_size=[3, 3]),
            one(x, w, "uint8 uint8", strides=[2, 2], padding=[1, 1], output_padding=[1, 1]),
            one(x, w, "int8 int8", 4, strides=[3, 1], dilation=[2, 3], padding=[2, 1]),
            one((2, 4, 3, 3), (4, 3, 3, 2), "uint8 int8", groups=2, strides=[2, 1]),
            one((1, 1, 1, 1), (1, 1, 1, 1)),
            one(x, w, "int16 int8", out_dtype="int64", strides=[2, 3]),
            one((1, 5, 4, 3), (3, 3, 2, 3), data_layout="NHWC", kernel_layout="HWOI", out_layout="NCHW"),
            one(x, (4, 3, 3, 3), error="input has 3 channels, weight expects 4"),
            one(x, w, channels=3, error="kernel_zero_point has shape (3,), axis 1 has extent 4"),
        ]
