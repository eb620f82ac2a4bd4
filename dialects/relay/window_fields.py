"""The attributes of ops whose windows slide over one, two or three axes, with TVM's names and defaults.

    class Conv2dOp(PlainConvolution, ConvolutionFields2d): ...

An op has the fields of all its bases, its own before theirs; one that it declares again is its own. What a layout
names last are the spatial axes SPATIAL.
"""

from __future__ import annotations

from typing import ClassVar

from lamina.dialects.relay.declare import *


class PoolFields:
    """The fields of pools over any number of axes."""

    pool_size = ints_prop()
    ceil_mode = bool_prop(False)


class PoolFields1d(PoolFields):
    """The attributes of pools over lines."""

    SPATIAL: ClassVar[str] = "W"

    strides = ints_prop((1,))
    dilation = ints_prop((1,))
    padding = ints_prop((0,))
    layout = str_prop("NCW")


class PoolFields2d(PoolFields):
    """The attributes of pools over images."""

    SPATIAL: ClassVar[str] = "HW"

    strides = ints_prop((1, 1))
    dilation = ints_prop((1, 1))
    padding = ints_prop((0, 0))
    layout = str_prop("NCHW")


class PoolFields3d(PoolFields):
    """The attributes of pools over volumes."""

    SPATIAL: ClassVar[str] = "DHW"

    strides = ints_prop((1, 1, 1))
    dilation = ints_prop((1, 1, 1))
    padding = ints_prop((0, 0, 0))
    layout = str_prop("NCDHW")


class DataAndWeight:
    """The operands and the result of a convolution."""

    data = operand_def()
    weight = operand_def()
    result = result_def()


class ConvolutionFields:
    """Fields of convolutions over any number of axes, besides `channels` and `kernel_size`, which not all may omit."""

    groups = int_prop(1)
    out_layout = str_prop("")
    out_dtype = str_prop("")


class ConvolutionFields1d(ConvolutionFields):
    """The attributes of convolutions over lines."""

    SPATIAL: ClassVar[str] = "W"

    strides = ints_prop((1,))
    padding = ints_prop((0,))
    dilation = ints_prop((1,))
    data_layout = str_prop("NCW")
    kernel_layout = str_prop("OIW")


class ConvolutionFields2d(ConvolutionFields):
    """The attributes of convolutions over images."""

    SPATIAL: ClassVar[str] = "HW"

    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0))
    dilation = ints_prop((1, 1))
    data_layout = str_prop("NCHW")
    kernel_layout = str_prop("OIHW")


class ConvolutionFields3d(ConvolutionFields):
    """The attributes of convolutions over volumes."""

    SPATIAL: ClassVar[str] = "DHW"

    strides = ints_prop((1, 1, 1))
    padding = ints_prop((0, 0, 0))
    dilation = ints_prop((1, 1, 1))
    data_layout = str_prop("NCDHW")
    kernel_layout = str_prop("OIDHW")
