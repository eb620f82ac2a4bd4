"""Convolutions the other way: ConvTranspose and Col2Im."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.convert_nn import per_axis
from lamina.frontends.onnx.registry import onnx_op
from lamina.frontends.padding import halves

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RANKS = (1, 2, 3)


@onnx_op("ConvTranspose")
def conv_transpose(n: Node, b: Builder) -> Value:
    """By `pads`, or by `output_shape` or `auto_pad`, from which the padding follows."""
    x, w = n.input(0), n.input(1)
    rank = x.rank - 2
    if rank not in _RANKS or w.rank != x.rank:
        raise n.fail("input and weight must have the same rank of 3, 4 or 5")
    strides, dilations = per_axis(n, "strides", rank), per_axis(n, "dilations", rank)
    extra = list(n.attr("output_padding", (0,) * rank))
    groups = n.attr("group", 1)
    full = [
        (e - 1) * s + (k - 1) * d + 1 for e, s, k, d in zip(x.shape[2:], strides, w.shape[2:], dilations, strict=True)
    ]
    mode = n.attr("auto_pad", "NOTSET")
    sizes = list(n.attr("output_shape", ()))
    if not sizes and mode in ("SAME_UPPER", "SAME_LOWER"):
        sizes = [e * s for e, s in zip(x.shape[2:], strides, strict=True)]
    if len(sizes) > rank:
        sizes = sizes[-rank:]
    if sizes:
        reaches = zip(sizes, full, extra, strict=True)
        pads = halves([reach + more - size for size, reach, more in reaches], mode == "SAME_UPPER")
    else:
        pads = [0] * 2 * rank if mode == "VALID" else list(n.attr("pads", (0,) * 2 * rank))
    if len(pads) != 2 * rank:
        raise n.fail(f"pads has {len(pads)} numbers, expects {2 * rank}")
    # Output padding takes from the padding behind; padding below zero is room, which nothing is added to.
    pads = [p - extra[a - rank] if a >= rank else p for a, p in enumerate(pads)]
    y = b.contraction(
        f"nn.conv{rank}d_transpose",
        x,
        w,
        strides=strides,
        padding=[max(0, p) for p in pads],
        dilation=dilations,
        groups=groups,
        channels=w.shape[1] * groups,
        kernel_size=list(w.shape[2:]),
    )
    if min(pads) < 0:
        room = [e for a in range(rank) for e in (max(0, -pads[a]), max(0, -pads[rank + a]))]
        y = b.op("nn.pad", y, pad_width=[0, 0, 0, 0, *room])
    return b.op("nn.bias_add", y, n.input(2), axis=1) if n.has(2) else y


@onnx_op("Col2Im")
def col_to_im(n: Node, b: Builder) -> Value:
    """Columns of blocks added up where they lie in the image."""
    x = n.input(0)
    image, block = n.ints(1, "the image's shape"), n.ints(2, "the block's shape")
    rank = len(image)
    if x.rank != 3 or len(block) != rank or x.shape[1] % prod(block):
        raise n.fail("the shapes do not fit")
    strides, dilations = per_axis(n, "strides", rank), per_axis(n, "dilations", rank)
    pads: list[int] = list(n.attr("pads", (0,) * 2 * rank))
    padded = [e + pads[a] + pads[rank + a] for a, e in enumerate(image)]
    counts = [(e - d * (k - 1) - 1) // s + 1 for e, d, k, s in zip(padded, dilations, block, strides, strict=True)]
    if prod(counts) != x.shape[2]:
        raise n.fail(f"{x.shape[2]} blocks, the image has {prod(counts)}")
    channels = x.shape[1] // prod(block)
    b.check_size([x.shape[0] * channels, *padded], x.dtype)
    flat: NDArray[Any] = np.zeros([1] * 2 * rank, np.int64)
    for a in range(rank):
        taps, starts = np.arange(block[a]) * dilations[a], np.arange(counts[a]) * strides[a]
        along: NDArray[Any] = np.add(taps.reshape(-1, 1), starts.reshape(1, -1))
        shape = [1] * 2 * rank
        shape[a], shape[rank + a] = block[a], counts[a]
        flat = np.add(flat, along.reshape(shape) * prod(padded[a + 1 :]))
    rows = x.shape[0] * channels
    places = np.ascontiguousarray(np.broadcast_to(flat.reshape(1, -1), (rows, flat.size)))
    zeros = b.op("full", b.scalar(0, x), shape=[rows, prod(padded)], dtype=x.dtype)
    y = b.op("scatter_elements", zeros, b.constant(places), b.reshape(x, (rows, flat.size)), axis=1, reduction="add")
    y = b.reshape(y, (x.shape[0], channels, *padded))
    ends = [pads[a] + e for a, e in enumerate(image)]
    return b.op("strided_slice", y, begin=pads[:rank], end=ends, strides=[1] * rank, axes=list(range(2, 2 + rank)))
