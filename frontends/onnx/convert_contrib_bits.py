"""Products with weights of a few bits, in blocks along the rows that have a scale and a zero point each.

The weights are made floats when the model is compiled: products are those of floats, and no worse than onnxruntime's,
which may round the other factor to bytes as well.
"""

from __future__ import annotations

from math import prod

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.contributed import INT, contributed, given, single, standard
from lamina.frontends.onnx.convert_quant import number, spread
from lamina.frontends.onnx.narrow import HELD


def unpacked(b: Builder, packed: Value, bits: int) -> Value:
    """The numbers of `bits` bits in the bytes of the last axis, the lowest bits first, as uint8."""
    if bits == 8:
        return packed
    shifts = b.constant(np.arange(0, 8, bits, dtype=np.uint8))
    parts = b.op("right_shift", b.op("expand_dims", packed, axis=packed.rank), shifts)
    codes = b.op("bitwise_and", parts, b.scalar(2**bits - 1, packed))
    return b.reshape(codes, (*packed.shape[:-1], packed.shape[-1] * 8 // bits))


def _first(b: Builder, x: Value, count: int) -> Value:
    """The first elements of the rows of a matrix."""
    if x.shape[1] == count:
        return x
    return b.op("strided_slice", x, begin=[0], end=[count], strides=[1], axes=[1])


@contributed(
    "MatMulNBits",
    inputs="A B scales zero_points? g_idx? bias?",
    required=("K", "N", "block_size"),
    only={"bits": (2, 4, 8), "weight_prepacked": (0,)},
    **dict.fromkeys(("K", "N", "accuracy_level", "bits", "block_size", "weight_prepacked"), INT),
)
def matmul_n_bits(n: Node, b: Builder) -> Value:
    """A times the transpose of B, which is [N, K]; any `accuracy_level` asks for less than float32."""
    x, packed = n.input(0), n.input(1)
    depth, rows, size, bits = n.attr("K"), n.attr("N"), n.attr("block_size"), n.attr("bits", 4)
    blocks = -(-depth // size)
    stored = rows, blocks, size * bits // 8
    if not x.rank or x.shape[-1] != depth or packed.dtype != "uint8" or prod(packed.shape) != prod(stored):
        raise n.fail(f"A and B do not fit K = {depth}, N = {rows} in blocks of {size} numbers of {bits} bits")
    codes = b.cast(unpacked(b, b.reshape(packed, stored), bits), "float32")
    scales, zeros = _numbers(n, b, n.input(2), rows, blocks), _zero_points(n, b, rows, blocks, bits)
    if n.has(4):
        # Each place along K names its block itself.
        groups = b.cast(n.input(4), "int32")
        codes = _first(b, b.reshape(codes, (rows, blocks * size)), depth)
        scales, zeros = (b.op("take", v, groups, axis=1, mode="clip") if v.rank else v for v in (scales, zeros))
    else:
        scales, zeros = (b.op("expand_dims", v, axis=2) if v.rank else v for v in (scales, zeros))
    weight = b.op("multiply", b.op("subtract", codes, zeros), scales)
    y = b.op(
        "nn.dense", single(b, x), _first(b, b.reshape(weight, (rows, prod(weight.shape) // rows)), depth), units=rows
    )
    bias = given(n, 5)
    return b.cast(y if bias is None else b.op("add", y, single(b, bias)), x.dtype)


def _numbers(n: Node, b: Builder, v: Value, rows: int, blocks: int) -> Value:
    """One number for each block of each row, as float32."""
    if prod(v.shape) != rows * blocks:
        raise n.fail(f"numbers of shape {list(v.shape)} are not one for each of {blocks} blocks of {rows} rows")
    return b.reshape(b.cast(v, "float32"), (rows, blocks))


def _zero_points(n: Node, b: Builder, rows: int, blocks: int, bits: int) -> Value:
    """Those of MatMulNBits: packed as the weights are, floats, or half of the range for all."""
    zeros = given(n, 3)
    if zeros is None:
        return b.constant(np.float32(2 ** (bits - 1)))
    if zeros.dtype != "uint8":
        return _numbers(n, b, zeros, rows, blocks)
    width = -(-blocks * bits // 8)
    if prod(zeros.shape) != rows * width:
        raise n.fail(f"zero points of shape {list(zeros.shape)} do not fit {rows} rows of {blocks} blocks")
    return b.cast(_first(b, unpacked(b, b.reshape(zeros, (rows, width)), bits), blocks), "float32")


_FP4 = (0.0, 0.0052083333, 0.6666666667, 1.0, 0.3333333333, 0.5, 0.1666666667, 0.25)
_NF4 = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334),
    *(-0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)
_VALUES = {0: (*_FP4, *(-v for v in _FP4)), 1: _NF4}
"""Values of the codes of each `quant_type` in bitsandbytes: floats; quantiles of the normal distribution."""


@contributed(
    "MatMulBnb4",
    inputs="A B absmax",
    required=("K", "N", "block_size", "quant_type"),
    only={"quant_type": tuple(_VALUES), "training_mode": (0,), "transB": (1,)},
    **dict.fromkeys(("K", "N", "block_size", "quant_type", "training_mode", "transB"), INT),
)
def matmul_bnb4(n: Node, b: Builder) -> Value:
    """A times the transpose of B, [N, K] of codes, the higher half of a byte first; blocks run on from row to row."""
    x, packed = n.input(0), n.input(1)
    depth, rows, size = n.attr("K"), n.attr("N"), n.attr("block_size")
    count, blocks = rows * depth, -(-rows * depth // size)
    if packed.dtype != "uint8" or prod(packed.shape) != (count + 1) // 2 or n.input(2).shape != (blocks,):
        raise n.fail(f"B and absmax do not fit N = {rows} and K = {depth} in blocks of {size}")
    halves = b.reshape(
        b.op("reverse", b.reshape(unpacked(b, packed, 4), (-(-count // 2), 2)), axis=1), (1, -(-count // 2) * 2)
    )
    table = b.constant(np.array(_VALUES[n.attr("quant_type")], np.float32))
    values = b.op("take", table, b.cast(_first(b, halves, count), "int32"), axis=0, mode="clip")
    scales = _first(
        b, b.op("repeat", b.reshape(b.cast(n.input(2), "float32"), (1, blocks)), repeats=size, axis=1), count
    )
    weight = b.reshape(b.op("multiply", values, scales), (rows, depth))
    return b.cast(b.op("nn.dense", single(b, x), weight, units=rows), x.dtype)


@contributed(
    "GatherBlockQuantized",
    held=True,
    inputs="data indices scales zero_points?",
    outputs="output",
    only={"bits": (2, 4, 8)},
    **dict.fromkeys(("bits", "block_size", "gather_axis", "quantize_axis"), INT),
)
def gather_block_quantized(n: Node, b: Builder) -> Value:
    """The numbers that a Gather of quantised data picks; a byte may hold several along the last axis. What is picked
    from outside the data is 0."""
    data, indices, scales = n.input(0), n.input(1), n.input(2)
    zeros, bits = given(n, 3), n.attr("bits", 4)
    axis, at = n.axis(n.attr("quantize_axis", 1), data.rank), n.axis(n.attr("gather_axis", 0), data.rank)
    extent = data.shape[at]
    if data.logical == "uint8":
        data = unpacked(b, data, bits)
        if zeros is None:
            zeros = b.constant(np.uint8(2 ** (bits - 1)))
        elif bits < 8:
            wide = unpacked(b, zeros, bits)
            zeros = _first(b, b.reshape(wide, (prod(wide.shape[:-1]), wide.shape[-1])), scales.shape[-1])
            zeros = b.reshape(zeros, scales.shape)
    block = n.attr("block_size", 128) or data.shape[axis]

    def picked(v: Value) -> Value:
        return _gathered(n, b, v, indices, at) if v.rank and at != axis else v

    y = number(b, picked(data), "float32")
    along = axis + indices.rank - 1 if axis > at else axis
    if zeros is not None:
        y = b.op("subtract", y, spread(n, b, number(b, picked(zeros), "float32"), y.shape, along, block))
    y = b.op("multiply", y, spread(n, b, b.cast(picked(scales), "float32"), y.shape, along, block))
    y = _gathered(n, b, y, indices, at) if at == axis else y
    if indices.array is None:
        inside = b.op(
            "logical_and",
            b.op("greater_equal", indices, b.scalar(-extent, indices)),
            b.op("less", indices, b.scalar(extent, indices)),
        )
        inside = b.reshape(inside, (*[1] * at, *indices.shape, *[1] * (data.rank - at - 1)))
        y = b.op("where", inside, y, b.scalar(0, y))
    return b.cast(y, scales.dtype)


def _gathered(n: Node, b: Builder, x: Value, indices: Value, axis: int) -> Value:
    made = standard(n, b, "Gather", [x, indices], axis=axis)
    return b.held(made, x.logical) if x.logical in HELD else made
