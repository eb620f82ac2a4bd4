"""Kernels that call OpenBLAS: products of matrices, and convolutions by way of the columns that they multiply.

A convolution copies the windows of its input into columns (im2col), some rows of the output at a time, and multiplies
them by the weights as they are. A kernel of 1x1 without stride needs no columns. What is added to a product and the
relu behind it are done by NumPy where the product stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.backends.byoc.openblas.crew import for_threads, shares, spans, together
from lamina.backends.byoc.openblas.library import PLAIN, ROW_MAJOR, TRANSPOSED, Library, load
from lamina.backends.byoc.openblas.patterns import has_plain_layouts
from lamina.dialects.dtypes import numpy_dtype
from lamina.passes.relay.partition.external_backends import Refusal
from lamina.passes.relay.partition.external_kernels import JsonBackend, Kernel
from lamina.passes.relay.partition.json_graphs import Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

COLUMN_BYTES = 4 << 20
"""Columns are made for as many rows of the output at a time as fit in here: they are still in the cache when read."""


class OpenBlas(JsonBackend):
    """The backend `openblas`."""

    def unavailable(self) -> str:
        found = load()
        return found if isinstance(found, str) else ""

    def load(self, text: str, constants: Sequence[Array], threads: int) -> Callable[..., None]:
        with for_threads(threads):
            run = super().load(text, constants, threads)
        library = _library()

        def limited(inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
            with library.threads(1):
                run(inputs, outputs)

        return limited


openblas = OpenBlas("openblas")


def _library() -> Library:
    found = load()
    if isinstance(found, str):
        raise Refusal(found)
    return found


Gemm = Callable[[int, int, int], None]


def gemm(
    dtype: str,
    a: bool,
    b: bool,
    rows: int,
    columns: int,
    depth: int,
    out_stride: int | None = None,
    a_stride: int | None = None,
    b_stride: int | None = None,
) -> Gemm:
    """out = A B by addresses, for A [rows, depth] and B [depth, columns], each stored transposed if so said.

    The strides are the distances of rows in memory, where a matrix is a part of a larger one.
    """
    library = _library()
    function, integer = library.gemm[dtype], library.integer
    first = (ROW_MAJOR, TRANSPOSED if a else PLAIN, TRANSPOSED if b else PLAIN, integer(rows), integer(columns))
    strides = (
        integer(a_stride or (rows if a else depth)),
        integer(b_stride or (depth if b else columns)),
        integer(out_stride or columns),
    )
    k = integer(depth)

    def run(left: int, right: int, out: int) -> None:
        function(*first, k, 1.0, left, strides[0], right, strides[1], 0.0, out, strides[2])

    return run


def product(dtype: str, a: bool, b: bool, rows: int, columns: int, depth: int) -> Kernel:
    """out = A B for arrays, each stored transposed if so said: the longer side of the result in shares."""
    size = numpy_dtype(dtype).itemsize
    count = shares(rows * columns * depth)
    parts: list[tuple[Gemm, int, int, int]] = []
    if rows >= columns:
        for first, last in spans(rows, count):
            multiply = gemm(dtype, a, b, last - first, columns, depth, a_stride=rows if a else depth)
            parts.append((multiply, first * size * (1 if a else depth), 0, first * columns * size))
    else:
        for first, last in spans(columns, count):
            multiply = gemm(dtype, a, b, rows, last - first, depth, columns, b_stride=depth if b else columns)
            parts.append((multiply, 0, first * size * (depth if b else 1), first * size))

    def run(x: Array, y: Array, out: Array) -> None:
        places = x.ctypes.data, y.ctypes.data, out.ctypes.data
        together([partial(m, *(p + n for p, n in zip(places, steps, strict=True))) for m, *steps in parts])

    return run


@openblas.op("nn.dense")
def dense(node: Node) -> Kernel:
    data, weight = node.input_types
    return product(data.dtype, False, True, prod(data.shape[:-1]), weight.shape[0], weight.shape[1])


@openblas.op("nn.matmul")
def matmul(node: Node) -> Kernel:
    a, b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    shape = node.input_types[0].shape
    rows, columns = node.types[0].shape
    return product(node.types[0].dtype, a, b, rows, columns, shape[0] if a else shape[1])


@openblas.op("nn.batch_matmul")
def batch_matmul(node: Node) -> Kernel:
    a, b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    left, right = (t.shape for t in node.input_types)
    batch, rows, columns = node.types[0].shape
    size = numpy_dtype(node.types[0].dtype).itemsize
    depth = left[1] if a else left[2]
    multiply = gemm(node.types[0].dtype, a, b, rows, columns, depth)
    # A batch of one matrix serves all of the other side.
    steps = [0 if s[0] == 1 else prod(s[1:]) * size for s in (left, right)]
    out_step = rows * columns * size
    parts = spans(batch, shares(batch * rows * columns * depth))

    def run(x: Array, y: Array, out: Array) -> None:
        places = x.ctypes.data, y.ctypes.data, out.ctypes.data

        def part(first: int, last: int) -> None:
            for n in range(first, last):
                multiply(places[0] + n * steps[0], places[1] + n * steps[1], places[2] + n * out_step)

        together([partial(part, *span) for span in parts])

    return run


@openblas.op("nn.conv2d")
def conv2d(node: Node) -> Kernel:
    if not has_plain_layouts(node.attrs):
        raise Refusal("images have the channels first, NCHW, and kernels OIHW")
    dtype = numpy_dtype(node.types[0].dtype)
    images, channels, height, width = node.input_types[0].shape
    features, _, tall, wide = node.input_types[1].shape
    out_height, out_width = node.types[0].shape[2:]
    groups = node.attrs["groups"]
    down, across = _pair(node.attrs["strides"])
    dilate_down, dilate_across = _pair(node.attrs["dilation"])
    top, left, bottom, right = _edges(node.attrs["padding"])
    depth, group_features = channels // groups * tall * wide, features // groups
    area, size = out_height * out_width, dtype.itemsize
    plain = (tall, wide, down, across, top, left, bottom, right) == (1, 1, 1, 1, 0, 0, 0, 0)
    count = shares(images * features * area * depth)
    # A product for a whole image where there are no columns to make, and as many as there are threads.
    at_once = out_height if plain else max(1, min(out_height, COLUMN_BYTES // (depth * out_width * size)))
    if images * groups < count:
        at_once = min(at_once, -(-out_height // count))
    padded = np.zeros((images, channels, height + top + bottom, width + left + right), dtype) if not plain else None
    multiply = {
        rows: gemm(dtype.name, False, False, group_features, rows * out_width, depth, area, b_stride=area * plain)
        for rows in {at_once, out_height % at_once} - {0}
    }
    inside = channels // groups
    jobs = [(i, g, y) for i in range(images) for g in range(groups) for y in range(0, out_height, at_once)]
    parts = [
        (jobs[a:b], np.empty(0 if plain else depth * at_once * out_width, dtype)) for a, b in spans(len(jobs), count)
    ]

    def run(x: Array, w: Array, out: Array) -> None:
        weights, source, result = w.ctypes.data, x.ctypes.data, out.ctypes.data
        windows = None
        if padded is not None:
            padded[:, :, top : top + height, left : left + width] = x
            taps, sizes = (tall, wide), (out_height, out_width)
            windows = _windows(padded, taps, sizes, (down, across), (dilate_down, dilate_across))

        def part(jobs: Sequence[tuple[int, int, int]], columns: Array) -> None:
            for image, group, first in jobs:
                rows = min(at_once, out_height - first)
                place = (image * channels + group * inside) * height * width + first * out_width
                right = source + place * size
                if windows is not None:
                    shape = (inside, tall, wide, rows, out_width)
                    taken = windows[image, group * inside : (group + 1) * inside, :, :, first : first + rows]
                    np.copyto(columns[: prod(shape)].reshape(shape), taken)
                    right = columns.ctypes.data
                place = (image * features + group * group_features) * area + first * out_width
                multiply[rows](weights + group * group_features * depth * size, right, result + place * size)

        together([partial(part, *p) for p in parts])

    return run


Pair = tuple[int, int]


def _windows(padded: Array, kernel: Pair, out: Pair, strides: Pair, dilation: Pair) -> Array:
    """The window of each element of the output, as a view: [image, channel, r, s, y, x]."""
    image, channel, row, column = padded.strides
    steps = (row * dilation[0], column * dilation[1], row * strides[0], column * strides[1])
    shape = (*padded.shape[:2], *kernel, *out)
    return np.lib.stride_tricks.as_strided(padded, shape, (image, channel, *steps), writeable=False)


def _pair(given: Sequence[int]) -> Pair:
    """TVM's attributes for two axes may be one number for both."""
    return (given[0], given[0]) if len(given) == 1 else (given[0], given[1])


def _edges(given: Sequence[int]) -> tuple[int, int, int, int]:
    """Top, left, bottom and right of a padding with one, two or four numbers."""
    if len(given) == 4:
        return given[0], given[1], given[2], given[3]
    down, across = _pair(given)
    return down, across, down, across


@openblas.op("add", in_place=True)
def add(node: Node) -> Kernel:
    def run(x: Array, y: Array, out: Array) -> None:
        np.add(x, y, out=out)

    return run


@openblas.op("nn.bias_add", in_place=True)
def bias_add(node: Node) -> Kernel:
    axis, rank = node.attrs["axis"], len(node.types[0].shape)
    shape = [1] * rank
    shape[axis] = node.input_types[1].shape[0]

    def run(x: Array, bias: Array, out: Array) -> None:
        np.add(x, bias.reshape(shape), out=out)

    return run


@openblas.op("nn.relu", in_place=True)
def relu(node: Node) -> Kernel:
    def run(x: Array, out: Array) -> None:
        np.maximum(x, x.dtype.type(0), out=out)

    return run
