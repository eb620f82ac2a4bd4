"""Quantised convolutions: the sum of (data - zero point) * (weight - zero point), in 32 bits.

With constant zero points a = input_zero_point and b = kernel_zero_point it is expanded, so that the convolution is one
of the stored integers; n is the number of products in a sum:

    sum (x - a) * (w - b)  =  sum x * w  -  b * sum x  +  (n * a * b - a * sum w)

The last part is a constant of each channel, the second is there only where b is not zero. Padding puts a, which is the
real zero. Zero points that are not constants are subtracted before, and so is that of a depthwise kernel, for which the
sums of x would be as much work as the convolution. All of it is arithmetic modulo 2**32.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

from lamina.dialects.dtypes import integer_range
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.layout import axis_of, extents
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.relay.qnn.scales import QnnDataAndWeight
from lamina.dialects.relay.window_fields import ConvolutionFields2d
from lamina.dialects.relay.windows import pairs

OPERANDS = ("int8", "uint8", "int16")
OUT = ("int32", "int64")


def check_convolution(
    data: TensorInfo, weight: TensorInfo, scales: tuple[TensorInfo, ...], channel: int, out_dtype: str
) -> None:
    """Raises TypeMismatch unless dtypes, zero points and scales fit; weights have theirs along axis `channel`."""
    input_zero_point, kernel_zero_point, input_scale, kernel_scale = scales
    qs.check_quantized("data", data, OPERANDS)
    qs.check_quantized("weight", weight, OPERANDS)
    qs.check_one("input_zero_point", input_zero_point, "int32")
    qs.check_along("kernel_zero_point", kernel_zero_point, "int32", weight.shape, channel)
    qs.check_one("input_scale", input_scale, "float32")
    qs.check_along("kernel_scale", kernel_scale, "float32", weight.shape, channel)
    qs.check_out_dtype(out_dtype, OUT)


def is_held(zero_point: SSAValue, dtype: str) -> bool:
    """Whether the value is a constant that the dtype has, so that it can be padded with."""
    numbers = qs.known_values(zero_point)
    low, high = integer_range(dtype)
    return numbers is not None and low <= int(numbers.min()) and int(numbers.max()) <= high


@irdl_op_definition
class QnnConv2dOp(OutFusable, QnnDataAndWeight, ConvolutionFields2d):
    """nn.conv2d of (data - input_zero_point) and (weight - kernel_zero_point); padding is the real zero.

    The scale of the result is input_scale * kernel_scale and its zero point 0: the scales are carried, not used.
    `kernel_zero_point` and `kernel_scale` may have one number for each output channel.
    """

    name = "relay.qnn.conv2d"
    LAYOUTS: ClassVar[tuple[str, ...]] = ("data_layout", "kernel_layout", "", "", "", "")

    channels = opt_prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)
    out_dtype = prop_def(StringAttr, default_value=StringAttr("int32"))

    @staticmethod
    def infer_type(data: TensorInfo, weight: TensorInfo, *scales: TensorInfo, **attrs: Any) -> TensorInfo:
        info = _plain().infer_type(data, weight, **attrs)
        check_convolution(data, weight, scales, axis_of(attrs["kernel_layout"], "O"), attrs["out_dtype"])
        return info

    @staticmethod
    def decompose(
        data: SSAValue, weight: SSAValue, input_zero_point: SSAValue, kernel_zero_point: SSAValue,
        input_scale: SSAValue, kernel_scale: SSAValue, **attrs: Any,
    ) -> Any:  # fmt: skip
        dtype = attrs["out_dtype"]
        a, b = input_zero_point, kernel_zero_point
        if not is_held(a, qs.info_of(data).dtype) or qs.known_values(b) is None:
            wide = qs.centred(data, a, 0, dtype)
            kernel = qs.centred(weight, b, axis_of(attrs["kernel_layout"], "O"), dtype)
            return r.nn.conv2d(wide, kernel, **attrs)
        if not qs.is_zero(a):
            data, attrs = _padded(data, a, attrs)
        if not qs.is_zero(b) and _is_depthwise(data, weight, attrs) and qs.info_of(weight).dtype in qs.NARROW:
            # The sums of windows would be as much work as the convolution.
            weight = qs.centred(weight, b, axis_of(attrs["kernel_layout"], "O"), "int16")
            b = number(0, b)
        out = r.nn.conv2d(data, weight, **attrs)
        if not qs.is_zero(b):
            # A kernel of its own, so that the convolution takes in what follows.
            sums = _alone(_sums_of_windows(data, weight, attrs))
            out = r.subtract(out, r.multiply(sums, _channels(b, attrs)))
        if not qs.is_zero(a):
            out = r.add(out, _channels(_correction(weight, a, b, attrs), attrs))
        return out

    @staticmethod
    def np_ref(data: Array, weight: Array, *scales: Array, **attrs: Any) -> Array:
        x = qs.ref_centred(data, scales[0])
        w = qs.ref_centred(weight, scales[1], axis_of(attrs["kernel_layout"], "O"))
        return _plain().np_ref(x, w, **(attrs | {"out_dtype": "int64"})).astype(attrs["out_dtype"])

    @staticmethod
    def samples() -> list[Sample]:
        return [*_samples(), *_refusals()]


def _plain() -> Any:
    return r.nn.conv2d.op


def _padded(data: SSAValue, zero_point: SSAValue, attrs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The data padded with its zero point, and the attributes of a convolution without padding."""
    before, after = pairs(attrs["padding"], 2)
    if not any((*before, *after)):
        return data, attrs
    widths = [0] * 8
    for letter, low, high in zip("HW", before, after, strict=True):
        axis = axis_of(attrs["data_layout"], letter)
        widths[2 * axis], widths[2 * axis + 1] = low, high
    numbers = qs.known_values(zero_point)
    assert numbers is not None
    padded = r.nn.pad(data, pad_width=widths, pad_value=float(numbers.reshape(-1)[0]))
    return padded, attrs | {"padding": (0, 0, 0, 0)}


def _is_depthwise(data: Any, weight: SSAValue, attrs: dict[str, Any]) -> bool:
    """Whether each channel has a kernel of its own."""
    channels = qs.info_of(data).shape[axis_of(attrs["data_layout"], "C")]
    inputs = qs.info_of(weight).shape[axis_of(attrs["kernel_layout"], "I")]
    return inputs == 1 and attrs["groups"] == channels > 1


def _channels(values: Any, attrs: dict[str, Any]) -> Any:
    """One number, or one for each output channel, ready to broadcast against the result."""
    return qs.cast(qs.along(values, axis_of(attrs["out_layout"] or attrs["data_layout"], "C"), 4), attrs["out_dtype"])


def _sums_of_windows(data: Any, weight: SSAValue, attrs: dict[str, Any]) -> Any:
    """The sum of the data that each output sums up: a convolution with ones, one channel a group."""
    layout, groups = attrs["kernel_layout"], attrs["groups"]
    shape = list(qs.info_of(weight).shape)
    per_group = shape[axis_of(layout, "O")] // groups
    shape[axis_of(layout, "O")] = groups
    sums = r.nn.conv2d(data, _ones(shape), **(attrs | {"channels": None}))
    if groups > 1 and per_group > 1:
        sums = r.repeat(sums, repeats=per_group, axis=axis_of(attrs["out_layout"] or attrs["data_layout"], "C"))
    return sums


def _alone(value: Any) -> Any:
    """The value, computed in a kernel that holds nothing of what reads it."""
    from lamina.dialects.relay.functional.annotations import StopFusionOp
    from lamina.dialects.rules.terms import insert

    made = StopFusionOp.make(value)
    insert(made)
    return made.results[0]


def _ones(shape: Sequence[int]) -> Any:
    from lamina.dialects.rules.terms import insert

    made = r.ones.op.make(shape=shape, dtype="int8")
    insert(made)
    return made.results[0]


def _correction(weight: SSAValue, a: SSAValue, b: SSAValue, attrs: dict[str, Any]) -> Any:
    """n * a * b - a * sum w, for each output channel."""
    dtype, kernel = attrs["out_dtype"], extents(attrs["kernel_layout"], qs.info_of(weight).shape)
    a = qs.cast(qs.along(a, 0, 0), dtype)
    sums = r.sum(qs.cast(weight, dtype), axis=[axis_of(attrs["kernel_layout"], letter) for letter in "IHW"])
    if not qs.is_zero(b):
        count = prod(kernel[letter] for letter in "IHW")
        sums = r.subtract(sums, r.multiply(qs.cast(qs.along(b, 0, 1), dtype), count))
    return r.multiply(r.negative(a), sums)


def _samples() -> list[Sample]:
    def one(
        x: tuple[int, ...], w: tuple[int, ...], types: str = "int8 int8", channels: int = 0, **attrs: Any
    ) -> Sample:
        data, kernel = types.split()
        several = (channels,) if channels else ()
        bounds = [(0.0, 255.0) if d == "uint8" else (-128.0, 127.0) for d in (data, kernel)]
        return sample(
            (x, data), (w, kernel), ((), "int32"), (several, "int32"), (), several, attrs=attrs,
            ranges=(*bounds, (-9, 99), (-5, 5), (0.01, 0.1), (0.01, 0.1)),
        )  # fmt: skip

    x, w = (1, 3, 7, 5), (4, 3, 3, 3)
    return [
        one(x, w), one(x, w, "uint8 int8", padding=[1, 1], channels=4, kernel_size=[3, 3]),
        one(x, w, "uint8 uint8", 4, padding=[0, 1, 2, 3], strides=[2, 1], dilation=[2, 1]),
        one((2, 4, 5, 5), (6, 2, 1, 1), groups=2),
        one((1, 6, 4, 4), (6, 1, 3, 3), "int8 int8", 6, groups=6, padding=[1]),
        one((1, 2, 4, 4), (6, 1, 3, 3), "uint8 int8", 6, groups=2),
        one((1, 1, 1, 1), (1, 1, 1, 1)), one(x, w, "int16 int8", out_dtype="int64"),
        one((1, 5, 6, 3), (2, 3, 3, 4), "uint8 int8", 4, data_layout="NHWC", kernel_layout="HWIO", out_layout="NCHW"),
        one((1, 5, 6, 2), (3, 3, 1, 2), "uint8 int8", data_layout="NHWC", kernel_layout="HWIO", groups=2, padding=[1]),
    ]  # fmt: skip


def _refusals() -> list[Sample]:
    def one(error: str, w: tuple[int, ...] = (4, 3, 3, 3), **kw: Any) -> Sample:
        operands = {
            "x": ((1, 3, 7, 5), "int8"), "w": (w, "int8"), "a": ((), "int32"), "b": ((), "int32"),
            "s": ((), "float32"), "t": ((), "float32"),
        }  # fmt: skip
        attrs = kw.pop("attrs", {})
        return sample(*(operands | kw).values(), attrs=attrs, error=error)

    return [
        one("input has 3 channels, weight expects 4", (4, 4, 3, 3)),
        one("data is float32, expects int8 or uint8 or int16", x=((1, 3, 7, 5), "float32")),
        one("input_zero_point has shape (3,), expects one number", a=((3,), "int32")),
        one("kernel_zero_point has shape (3,), axis 0 has extent 4", b=((3,), "int32")),
        one("kernel_scale has shape (3,), axis 0 has extent 4", t=((3,), "float32")),
        one("input_zero_point is int8, expects int32", a=((), "int8")),
        one("out_dtype 'int8' is none of int32, int64", attrs={"out_dtype": "int8"}),
    ]
