"""Fourier transforms as products with a matrix of cosines and sines, in float64: no length is special."""

from __future__ import annotations

import numpy as np

from lamina.dialects.relay.reduce.spectrum import turns
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.registry import onnx_op

LONGEST = 4096
"""The matrix has the square of the length."""


def transform(n: Node, b: Builder, x: Value, length: int, inverse: bool, onesided: bool) -> Value:
    """The transform along the last axis but one of `x` [..., signal, 1 or 2 for real and imaginary parts]."""
    if x.rank < 2 or x.shape[-1] not in (1, 2) or not 0 < length <= LONGEST:
        raise n.fail(f"a transform of length {length} of {x} is not one of 1 to {LONGEST} numbers, real or complex")
    extent, parts = x.shape[-2:]
    half = length // 2 + 1
    if inverse and onesided:
        return _to_real(n, b, x, length)
    frequencies = half if onesided else length
    c, s = _at_products(length, length, frequencies)
    s = s if inverse else -s
    # Rows: the parts of an input element; columns: those of an output element.
    blocks = [[c, s], [-s, c]][:parts]
    matrix = np.stack([np.stack(row, -1) for row in blocks], 1).reshape(length * parts, -1)
    if inverse:
        matrix = matrix / length
    taken = min(extent, length)
    matrix = matrix[: taken * parts]
    y = _applied(b, x, taken, matrix)
    return b.reshape(y, (*x.shape[:-2], frequencies, 2))


def _at_products(length: int, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """cos and sin of i * j / length of a turn, [rows, columns]."""
    length, rows, columns = int(length), int(rows), int(columns)  # symbols are asked for their numbers
    places = np.outer(np.arange(rows), np.arange(columns)) % length
    c, s = turns(length)
    return c[places], s[places]


def _applied(b: Builder, x: Value, taken: int, matrix: np.ndarray) -> Value:
    if taken < x.shape[-2]:
        x = b.op("strided_slice", x, begin=[0], end=[taken], strides=[1], axes=[x.rank - 2])
    flat = b.cast(b.reshape(x, (int(np.prod(x.shape[:-2])), taken * x.shape[-1])), "float64")
    y = b.op("nn.dense", flat, b.constant(np.ascontiguousarray(matrix.T)), units=matrix.shape[1])
    return b.cast(y, x.dtype)


def _to_real(n: Node, b: Builder, x: Value, length: int) -> Value:
    """From the first half of a transform of real numbers back to them."""
    half = length // 2 + 1
    taken, parts = min(x.shape[-2], half), x.shape[-1]
    c, s = _at_products(length, taken, length)
    twice = np.array([1.0 if k == 0 or 2 * k == length else 2.0 for k in range(taken)])[:, None]
    rows = [c * twice / length, -s * twice / length][:parts]
    y = _applied(b, x, taken, np.stack(rows, 1).reshape(taken * parts, length))
    return b.reshape(y, (*x.shape[:-2], length, 1))


@onnx_op("DFT")
def dft(n: Node, b: Builder) -> Value:
    """The axis became an input in opset 20."""
    x = n.input(0)
    if n.version < 20:
        axis = n.attr("axis", 1)
    else:
        axis = int(n.array(2, "the axis").reshape(-1)[0]) if n.has(2) else -2
    axis = n.axis(axis, x.rank)
    if axis == x.rank - 1:
        raise n.fail("the last axis is that of real and imaginary parts")
    inverse, onesided = bool(n.attr("inverse", 0)), bool(n.attr("onesided", 0))
    if n.has(1):
        length = int(n.array(1, "the length").reshape(-1)[0])
    else:
        length = 2 * (x.shape[axis] - 1) if inverse and onesided else x.shape[axis]
    order = [a for a in range(x.rank - 1) if a != axis] + [axis, x.rank - 1]
    moved = x if order == list(range(x.rank)) else b.op("transpose", x, axes=order)
    y = transform(n, b, moved, length, inverse, onesided)
    back = [order.index(a) for a in range(x.rank)]
    return y if order == list(range(x.rank)) else b.op("transpose", y, axes=back)


@onnx_op("STFT")
def stft(n: Node, b: Builder) -> Value:
    """Transforms of frames that overlap, each under a window: [batch, frames, frequencies, 2]."""
    x = n.input(0)
    step = int(n.array(1, "the step").reshape(-1)[0])
    window = n.input(2) if n.has(2) else None
    if n.has(3):
        length = int(n.array(3, "the length of a frame").reshape(-1)[0])
    elif window is not None:
        length = window.shape[0]
    else:
        raise n.fail("neither a window nor the length of a frame is given")
    if x.rank == 2:
        x = b.reshape(x, (*x.shape, 1))
    if step < 1 or not 0 < length <= x.shape[1]:
        raise n.fail(f"frames of {length} every {step} do not fit a signal of {x.shape[1]}")
    count = (x.shape[1] - length) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(length)[None, :]
    frames = b.op("take", x, b.constant(places), axis=1, mode="clip")
    if window is not None:
        frames = b.op("multiply", frames, b.reshape(window, (length, 1)))
    onesided = bool(n.attr("onesided", 1)) and x.shape[-1] == 1
    return transform(n, b, frames, length, False, onesided)


@onnx_op("MelWeightMatrix")
def mel_weights(n: Node, b: Builder) -> Value:
    """Triangles that overlap, evenly spaced on the mel scale: all is known when the model is compiled."""
    from lamina.dialects.dtypes import numpy_dtype
    from lamina.frontends.onnx.tensors import dtype_of

    names = ("the bins", "the length", "the sample rate", "the lower edge", "the upper edge")
    bins, length, rate, low, high = (n.array(i, what).reshape(-1)[0] for i, what in enumerate(names))
    count = int(length) // 2 + 1
    mel = 2595 * np.log10(1 + np.array([float(low), float(high)]) / 700)
    edges = np.arange(int(bins) + 2) * ((mel[1] - mel[0]) / (int(bins) + 2)) + mel[0]
    hertz = 700 * (np.power(10, edges / 2595) - 1)
    places = np.floor((int(length) + 1) * hertz / int(rate)).astype(np.int64)
    b.check_size((count, int(bins)), "float64")
    weights = np.zeros((count, int(bins)))
    for k in range(int(bins)):
        lower, centre, upper = places[k : k + 3]
        if lower == centre:
            weights[centre, k] = 1
        else:
            weights[lower : centre + 1, k] = (np.arange(lower, centre + 1) - lower) / (centre - lower)
        if upper > centre:
            weights[centre:upper, k] = (upper - np.arange(centre, upper)) / (upper - centre)
    return b.constant(weights.astype(numpy_dtype(dtype_of(n.attr("output_datatype", 1), n.where))))
