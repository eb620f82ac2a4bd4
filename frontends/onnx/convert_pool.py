"""Pooling over any number of axes, with indices and back."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.relay.windows import windows
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.convert_nn import per_axis, window_padding
from lamina.frontends.onnx.registry import onnx_op

MOST_TAPS = 128
"""Pooling with indices looks at each tap of the window by itself."""


@dataclass(frozen=True)
class Windows:
    """The windows of a pooling node; `pads` are all befores, then all afters."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    pads: list[int]
    ceil_mode: bool
    outputs: list[int]
    """The number of windows along each axis."""
    taps: list[int]
    """The kernel without what never lies on the data."""


def _windows(n: Node, x: Value) -> Windows:
    rank = x.rank - 2
    if rank < 1:
        raise n.fail("rank is below 3")
    kernel = list(n.attr("kernel_shape", ()))
    if len(kernel) != rank:
        raise n.fail(f"kernel_shape has {len(kernel)} numbers, expects {rank}")
    strides, dilations = per_axis(n, "strides", rank), per_axis(n, "dilations", rank)
    pads = window_padding(n, x.shape[2:], kernel, strides, dilations)
    ceil_mode = bool(n.attr("ceil_mode", 0))
    try:
        slides = windows(x.shape[2:], kernel, strides, dilations, pads, ceil_mode)
    except TypeMismatch as e:
        raise n.fail(str(e)) from e
    outputs, taps = [w.outputs(ceil_mode) for w in slides], [w.on_data().size for w in slides]
    return Windows(kernel, strides, dilations, pads, ceil_mode, outputs, taps)


def _pool(n: Node, b: Builder, kind: str, x: Value, **attrs: bool) -> Value:
    w = _windows(n, x)
    rank = x.rank - 2
    if rank > 3:
        raise n.unsupported(f"pooling over {rank} axes is not supported")
    common = {
        "pool_size": w.kernel,
        "strides": w.strides,
        "dilation": w.dilations,
        "padding": w.pads,
        "ceil_mode": w.ceil_mode,
    }
    return b.op(f"nn.{kind}_pool{rank}d", x, **common, **attrs)


@onnx_op("MaxPool")
def max_pool(n: Node, b: Builder) -> Value | list[Value]:
    x = n.input(0)
    return _max_with_indices(n, b, x) if n.wants_output(1) else _pool(n, b, "max", x)


@onnx_op("AveragePool")
def average_pool(n: Node, b: Builder) -> Value:
    return _pool(n, b, "avg", n.input(0), count_include_pad=bool(n.attr("count_include_pad", 0)))


@onnx_op("LpPool")
def lp_pool(n: Node, b: Builder) -> Value:
    """(sum of |x|**p over the window) ** (1/p): the sum is a convolution of each channel with ones."""
    x, order = n.input(0), int(n.attr("p", 2))
    w = _windows(n, x)
    rank = x.rank - 2
    if rank > 3 or order < 1:
        raise n.unsupported(f"p = {order} over {rank} axes is not supported")
    powers = b.op("abs", x)
    if order > 1:
        powers = b.op("multiply", x, x) if order == 2 else b.op("power", powers, b.scalar(order, x))
    channels = b.reshape(powers, (prod(x.shape[:2]), 1, *x.shape[2:]))
    pads = list(w.pads)
    for a, count in enumerate(w.outputs):  # what the last window reaches beyond the padding
        reach = (count - 1) * w.strides[a] + (w.taps[a] - 1) * w.dilations[a] + 1
        pads[rank + a] = reach - x.shape[2 + a] - w.pads[a]
    if min(pads) < 0:
        ends = [x.shape[2 + a] + min(0, pads[rank + a]) for a in range(rank)]
        channels = b.op(
            "strided_slice", channels, begin=[0] * rank, end=ends, strides=[1] * rank, axes=list(range(2, x.rank))
        )
        pads = [max(0, p) for p in pads]
    ones = b.constant(np.ones((1, 1, *w.taps), x.dtype))
    total = b.op(
        f"nn.conv{rank}d", channels, ones, strides=w.strides, padding=pads, dilation=w.dilations, channels=1,
        kernel_size=w.taps,
    )  # fmt: skip
    total = b.reshape(total, (*x.shape[:2], *total.shape[2:]))
    return _root(b, total, order)


def _root(b: Builder, x: Value, order: int) -> Value:
    if order == 1:
        return x
    return b.op("sqrt", x) if order == 2 else b.op("power", x, b.scalar(1 / order, x))


@onnx_op("GlobalLpPool")
def global_lp_pool(n: Node, b: Builder) -> Value:
    x, order = n.input(0), int(n.attr("p", 2))
    powers = b.op("abs", x)
    if order > 1:
        powers = b.op("multiply", x, x) if order == 2 else b.op("power", powers, b.scalar(order, x))
    return _root(b, b.op("sum", powers, axis=list(range(2, x.rank)), keepdims=True), order)


@onnx_op("GlobalAveragePool", "GlobalMaxPool")
def global_pool(n: Node, b: Builder) -> Value:
    x = n.input(0)
    if x.rank < 3:
        raise n.fail("input must have rank 3 or more")
    image = b.reshape(x, (*x.shape[:2], prod(x.shape[2:-1]), x.shape[-1]))
    kind = "avg" if n.op_type == "GlobalAveragePool" else "max"
    return b.reshape(b.op(f"nn.global_{kind}_pool2d", image), (*x.shape[:2], *[1] * (x.rank - 2)))


# -- indices of the maxima -------------------------------------------------------------------------


def _max_with_indices(n: Node, b: Builder, x: Value) -> list[Value]:
    """The maxima, and where they stand in the flattened input (column by column with storage_order 1)."""
    w = _windows(n, x)
    if prod(w.taps) > MOST_TAPS:
        raise n.unsupported(f"indices of windows with more than {MOST_TAPS} elements are not supported")
    rank, spatial = x.rank - 2, x.shape[2:]
    outputs = w.outputs
    order = spatial if not n.attr("storage_order", 0) else spatial[::-1]
    within = np.arange(prod(spatial), dtype=np.int64).reshape(order)
    within = within if not n.attr("storage_order", 0) else within.transpose()
    flat = within + prod(spatial) * np.arange(prod(x.shape[:2]), dtype=np.int64).reshape(*x.shape[:2], *[1] * rank)
    ends = [
        max(0, (o - 1) * s + (k - 1) * d + 1 - e - p)
        for o, s, k, d, e, p in zip(outputs, w.strides, w.taps, w.dilations, spatial, w.pads, strict=False)
    ]
    widths = [(0, 0), (0, 0), *zip(w.pads[:rank], ends, strict=True)]
    lowest = -np.inf if is_float(x.dtype) else float(np.iinfo(x.dtype).min)
    padded = b.op("nn.pad", x, pad_width=[e for pair in widths for e in pair], pad_value=lowest)
    places = np.pad(flat, widths)
    best: Value | None = None
    where: Value | None = None
    for tap in product(*map(range, w.taps)):
        begin = [t * d for t, d in zip(tap, w.dilations, strict=True)]
        end = [s + (o - 1) * t + 1 for s, o, t in zip(begin, outputs, w.strides, strict=True)]
        here = b.op("strided_slice", padded, begin=begin, end=end, strides=w.strides, axes=list(range(2, x.rank)))
        cut = (slice(None), slice(None), *(slice(*v) for v in zip(begin, end, w.strides, strict=True)))
        index = b.constant(np.ascontiguousarray(places[cut]))
        if best is None or where is None:
            best, where = here, index
        else:
            more = b.op("greater", here, best)
            best, where = b.op("where", more, here, best), b.op("where", more, index, where)
    assert best is not None and where is not None
    return [best, where]


@onnx_op("MaxUnpool")
def max_unpool(n: Node, b: Builder) -> Value:
    """Each element at its index in a tensor of zeros; the indices count in the tensor that was pooled."""
    x, indices = n.input(0), n.input(1)
    rank = x.rank - 2
    kernel, strides = list(n.attr("kernel_shape")), per_axis(n, "strides", rank)
    pads = list(n.attr("pads", (0,) * 2 * rank))
    smallest = [
        (e - 1) * s - pads[a] - pads[rank + a] + k
        for a, (e, s, k) in enumerate(zip(x.shape[2:], strides, kernel, strict=True))
    ]
    shape = [*x.shape[:2], *smallest]
    wanted = n.ints(2, "the output's shape") if n.has(2) else shape
    b.check_size(wanted, x.dtype)
    zeros = b.op("full", b.scalar(0, x), shape=[prod(shape)], dtype=x.dtype)
    size = prod(x.shape)
    flat = b.op("scatter_elements", zeros, b.reshape(indices, (size,)), b.reshape(x, (size,)), axis=0)
    if prod(wanted) == prod(shape):
        return b.reshape(flat, wanted)
    made = b.reshape(flat, shape)
    if any(w < s for w, s in zip(wanted, shape, strict=True)):
        raise n.fail(f"the output's shape {wanted} is smaller than {shape}")
    # Indices count in the smaller shape; the rest is zeros behind.
    return b.op("nn.pad", made, pad_width=[e for w, s in zip(wanted, shape, strict=True) for e in (0, w - s)])
