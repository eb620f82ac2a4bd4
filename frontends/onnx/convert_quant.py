"""Quantisation: to integers or float8 and back, and products of quantised tensors."""

from __future__ import annotations

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.convert_cast import converted
from lamina.frontends.onnx.convert_nn import convolution, product
from lamina.frontends.onnx.narrow import HELD, LIMITS, is_float_code, widened
from lamina.frontends.onnx.registry import onnx_op

QUANTIZED = ("int8", "uint8", "int16", "int32")
"""Types that the quantised ops of Relay take; other types are converted element by element."""


def spread(n: Node, b: Builder, v: Value, shape: tuple[int, ...], axis: int, block: int) -> Value:
    """A scale or zero point as it broadcasts to the tensor: one number, one a slice of `axis`, or one a block of it."""
    if v.rank == 0 or v.shape == (1,):
        return b.reshape(v, ())
    axis = n.axis(axis, len(shape))
    if not block:
        if v.rank != 1 or v.shape[0] != shape[axis]:
            raise n.fail(f"a scale or zero point of shape {list(v.shape)} for axis {axis} of {list(shape)}")
        return b.reshape(v, [v.shape[0] if a == axis else 1 for a in range(len(shape))])
    wide = b.op("repeat", v, repeats=block, axis=axis)
    if wide.rank == len(shape) and wide.shape[axis] > shape[axis]:
        wide = b.op("strided_slice", wide, begin=[0], end=[shape[axis]], strides=[1], axes=[axis])
    if wide.shape != shape:
        raise n.fail(f"scales of shape {list(v.shape)} in blocks of {block} do not fit {list(shape)}")
    return wide


def number(b: Builder, v: Value, dtype: str) -> Value:
    """The numbers that a quantised tensor's elements are, before scaling."""
    return b.cast(widened(b, v) if v.logical in HELD else v, dtype)


def affine(n: Node, b: Builder, scale: Value, zero: Value | None, shape: tuple[int, ...], axis: int) -> list[Value]:
    """Scale and zero point as the quantised ops take them: one number, or one a slice of `axis`; int32 the latter."""
    made = [scale, b.cast(zero, "int32") if zero is not None else b.constant(np.int32(0))]
    known = made[1].array
    if known is not None and known.size and np.all(known == known.flat[0]):
        # Weights have a list of equal ones, which passes know better as one.
        made[1] = b.constant(np.int32(known.flat[0]))
    for i, v in enumerate(made):
        if v.rank == 0 or v.shape == (1,):
            made[i] = b.reshape(v, ())
        elif v.rank != 1 or v.shape[0] != shape[n.axis(axis, len(shape))]:
            raise n.fail(f"a scale or zero point of shape {list(v.shape)} for axis {axis} of {list(shape)}")
    return made


def is_plain(n: Node, *values: Value | None) -> bool:
    """Whether a node has no blocks, and is about tensors of the dtypes that the quantised ops have."""
    if n.attr("block_size", 0) or n.attr("precision", 0):
        return False
    return all(v is None or v.logical == v.dtype and v.dtype in (*QUANTIZED, "float32") for v in values)


@onnx_op("QuantizeLinear", held=True)
def quantize(n: Node, b: Builder) -> Value:
    """y = round(x / scale) + zero, saturated; the quotient in the scale's type, unless `precision` says otherwise."""
    x, scale = n.input(0), n.input(1)
    zero = n.input(2) if n.has(2) else None
    to = n.attr("output_dtype", 0)
    logical = zero.logical if zero is not None else b.type_of(to) if to else "uint8"
    axis, block = n.attr("axis", 1), n.attr("block_size", 0)
    if x.dtype == "int32":
        x = b.cast(x, "float32")
    if x.dtype == scale.dtype == "float32" and x.rank and logical in QUANTIZED and is_plain(n, x, scale, zero):
        given = affine(n, b, scale, zero, x.shape, axis)
        at = n.axis(axis, x.rank) if given[0].rank or given[1].rank else -1
        return b.op("qnn.quantize", x, *given, axis=at, out_dtype=logical, rounding="TONEVEN")
    if "precision" in n.attrs and n.attrs["precision"]:
        name = b.type_of(n.attrs["precision"])
        x, scale = b.cast(x, name), b.cast(scale, name)
    elif x.dtype != scale.dtype:
        wide = "float32" if "float32" in (x.dtype, scale.dtype) else x.dtype
        x, scale = b.cast(x, wide), b.cast(scale, wide)
    q = b.op("divide", x, spread(n, b, scale, x.shape, axis, block))
    if is_float_code(logical):
        return converted(n, b, b.cast(q, "float32"), logical)
    low, high = LIMITS[logical] if logical in LIMITS else (np.iinfo(logical).min, np.iinfo(logical).max)
    q = b.op("round", b.cast(q, "float32"))
    if zero is not None:
        q = b.op("add", q, spread(n, b, number(b, zero, "float32"), x.shape, axis, block))
    q = b.op("clip", q, a_min=float(low), a_max=float(high))
    whole = b.cast(q, HELD.get(logical, logical))
    return b.held(whole, logical) if logical in HELD else whole


@onnx_op("DequantizeLinear", held=True)
def dequantize(n: Node, b: Builder) -> Value:
    """(x - zero) * scale in float32, in the scale's type or `output_dtype`."""
    x, scale = n.input(0), n.input(1)
    axis, block = n.attr("axis", 1), n.attr("block_size", 0)
    zero = n.input(2) if n.has(2) else None
    if scale.dtype == "float32" and x.rank and not n.attr("output_dtype", 0) and is_plain(n, x, scale, zero):
        given = affine(n, b, scale, zero, x.shape, axis)
        at = n.axis(axis, x.rank) if given[0].rank or given[1].rank else -1
        return b.op("qnn.dequantize", x, *given, axis=at)
    # The difference of integers is exact before it becomes a float.
    whole = x.logical in ("int32", "uint32")
    y = number(b, x, "int32" if whole else "float32")
    if n.has(2):
        y = b.op("subtract", y, spread(n, b, number(b, n.input(2), y.dtype), x.shape, axis, block))
    y = b.op("multiply", b.cast(y, "float32"), b.cast(spread(n, b, scale, x.shape, axis, block), "float32"))
    to = n.attr("output_dtype", 0)
    return b.cast(y, b.type_of(to) if to else scale.dtype)


def _shifted(n: Node, b: Builder, x: Value, zero: Value | None, axis: int) -> Value:
    """x - zero in int32. Raises InputError where x has no integers."""
    if "int" not in x.dtype:
        raise n.fail(f"takes products of integers, got {x.dtype}")
    wide = b.cast(x, "int32")
    if zero is None:
        return wide
    return b.op("subtract", wide, spread(n, b, b.cast(zero, "int32"), x.shape, axis, 0))


def _whole(b: Builder, zero: Value | None, like: Value) -> Value:
    """A zero point as the quantised ops take it: int32, of rank 0 where it is one number."""
    if zero is None:
        return b.constant(np.int32(0))
    number_of = b.cast(zero, "int32")
    if number_of.array is not None and number_of.array.size and np.all(number_of.array == number_of.array.flat[0]):
        return b.constant(np.int32(number_of.array.flat[0]))
    return b.reshape(number_of, ()) if number_of.shape == (1,) and like.shape[:1] != (1,) else number_of


def product_of_integers(
    n: Node, b: Builder, x: Value, w: Value, x_zero: Value | None, w_zero: Value | None, by_rows: bool = False
) -> Value:
    """numpy.matmul of x - x_zero and w - w_zero in int32; `by_rows` where w is a matrix that lies transposed."""
    if _are_bytes(x, w) and x.rank >= 2 and w.rank == 2 and w.array is not None:
        units = w.shape[0 if by_rows else 1]
        first, second = _whole(b, x_zero, x), _whole(b, w_zero, w)
        if first.rank == 0 and second.shape in ((), (units,)):
            one, rows = b.constant(np.float32(1)), w if by_rows else b.op("transpose", w, axes=[1, 0])
            return b.op("qnn.dense", x, rows, first, second, one, one, units=units)
    if by_rows:
        w = b.op("transpose", w, axes=[1, 0])
    a_axis = -2 if x.rank > 1 else -1
    return product(n, b, _shifted(n, b, x, x_zero, a_axis), _shifted(n, b, w, w_zero, -1))


def convolution_of_integers(
    n: Node, b: Builder, x: Value, w: Value, x_zero: Value | None, w_zero: Value | None
) -> Value:
    """The convolution of x - x_zero and w - w_zero in int32; padding is the zero point."""
    if _are_bytes(x, w) and x.rank == w.rank == 4:
        first, second = _whole(b, x_zero, x), _whole(b, w_zero, w)
        if first.rank == 0 and second.shape in ((), w.shape[:1]):
            one = b.constant(np.float32(1))
            return convolution(n, b, x, w, first, second, one, one)
    return convolution(n, b, _shifted(n, b, x, x_zero, 1), _shifted(n, b, w, w_zero, 0))


def _are_bytes(*values: Value) -> bool:
    return all(v.logical == v.dtype and v.dtype in ("int8", "uint8") for v in values)


@onnx_op("MatMulInteger")
def matmul_integer(n: Node, b: Builder) -> Value:
    """(A - a) (B - b) in int32, the zero points per tensor, per row of A or per column of B."""
    first, second = (n.input(i) if n.has(i) else None for i in (2, 3))
    return product_of_integers(n, b, n.input(0), n.input(1), first, second)


@onnx_op("ConvInteger")
def conv_integer(n: Node, b: Builder) -> Value:
    zeros = [n.input(i) if n.has(i) else None for i in (2, 3)]
    return convolution_of_integers(n, b, n.input(0), n.input(1), *zeros)


def requantized(
    n: Node, b: Builder, sums: Value, scales: tuple[Value, Value, Value], axes: tuple[int, int], zero: Value
) -> Value:
    """round(sums * (x_scale * w_scale / y_scale)) + zero, saturated; all in float32, as onnxruntime does.

    Lists of x_scale and w_scale lie along the two axes of the sums.
    """
    if zero.dtype not in ("int8", "uint8"):
        raise n.unsupported(f"results of type {zero.logical} are not supported")
    x_scale, w_scale, scale = (b.cast(v, "float32") for v in scales)
    zero = b.reshape(zero, ()) if zero.rank else zero
    scale = b.reshape(scale, ()) if scale.rank else scale
    if x_scale.shape in ((), (1,)) and w_scale.shape in ((), (1,), (sums.shape[axes[1]],)):
        given = b.op("multiply", b.reshape(x_scale, ()), b.reshape(w_scale, ()) if w_scale.shape == (1,) else w_scale)
        if given.rank == 0 or given.shape == (sums.shape[axes[1]],):
            target = scale, b.cast(zero, "int32")
            attrs = {"rounding": "TONEVEN", "compute_dtype": "float32", "out_dtype": zero.dtype}
            return b.op(
                "qnn.requantize", sums, given, b.constant(np.int32(0)), *target, axis=axes[1] % sums.rank, **attrs
            )
    ratio = b.op(
        "multiply", spread(n, b, x_scale, sums.shape, axes[0], 0), spread(n, b, w_scale, sums.shape, axes[1], 0)
    )
    y = b.op("round", b.op("multiply", b.cast(sums, "float32"), b.op("divide", ratio, scale)))
    low, high = np.iinfo(zero.dtype).min, np.iinfo(zero.dtype).max
    y = b.op("add", y, b.cast(zero, "float32"))
    return b.cast(b.op("clip", y, a_min=float(low), a_max=float(high)), zero.dtype)


@onnx_op("QLinearMatMul")
def qlinear_matmul(n: Node, b: Builder) -> Value:
    x, a_scale, a_zero, w, b_scale, b_zero, y_scale, y_zero = n.values()
    sums = product_of_integers(n, b, x, w, a_zero, b_zero)
    if not sums.rank:
        return b.reshape(requantized(n, b, b.reshape(sums, (1,)), (a_scale, b_scale, y_scale), (-1, -1), y_zero), ())
    rows = -2 if x.rank > 1 and sums.rank > 1 else -1
    return requantized(n, b, sums, (a_scale, b_scale, y_scale), (rows, -1), y_zero)


@onnx_op("QLinearConv")
def qlinear_conv(n: Node, b: Builder) -> Value:
    """The bias has the scale x_scale * w_scale; the scales of the weight may be one an output channel."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = (n.input(i) for i in range(8))
    sums = convolution_of_integers(n, b, x, w, x_zero, w_zero)
    if n.has(8):
        sums = b.op("nn.bias_add", sums, n.input(8), axis=1)
    return requantized(n, b, sums, (x_scale, w_scale, y_scale), (1, 1), y_zero)
