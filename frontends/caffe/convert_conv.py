"""Layers that slide windows or multiply by weights: convolutions, products, pools, embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.infos import TypeMismatch
from lamina.dialects.relay.windows import windows
from lamina.errors import shown
from lamina.frontends.builder import Value
from lamina.frontends.caffe.reader import TABLE
from lamina.frontends.caffe.text_format import TextMessage
from lamina.frontends.companion import no_weights
from lamina.frontends.network import NetworkNode, NodeBuilder

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 1 << 20
"""Extents of kernels, strides and padding."""


def parameters(node: NetworkNode, name: str) -> TextMessage:
    """The parameters of a layer, an empty message where it has none."""
    layer: TextMessage = node.attributes["layer"]
    return layer.message(name)


def blobs_of_layer(b: NodeBuilder, node: NetworkNode) -> Sequence[NDArray[Any]]:
    """The weights of a layer. Raises InputError where there is no file of weights."""
    blobs: Sequence[NDArray[Any]] | None = node.attributes["blobs"]
    if blobs is None:
        raise no_weights(b.label, PurePath(b.label).with_suffix(".caffemodel").name)
    return blobs


def blob(b: NodeBuilder, node: NetworkNode, index: int, shape: Sequence[int] | None = None) -> Value:
    """A weight of a layer, in a shape of as many elements. Raises InputError where it is not there or does not fit."""
    blobs = blobs_of_layer(b, node)
    if index >= len(blobs):
        hint = "are the two files of one network?"
        raise b.fail(f"has {len(blobs)} blobs in the .caffemodel, blob {index} is needed", hint)
    array = blobs[index]
    if shape is not None and prod(shape) != array.size:
        raise b.fail(f"blob {index} has the shape {list(array.shape)}, {list(shape)} is needed")
    return b.constant(array if shape is None else array.reshape(tuple(shape)), name=f"{node.name}.{index}")


def axis_of(b: NodeBuilder, p: TextMessage, rank: int, default: int = 1, name: str = "axis") -> int:
    """An axis counted from the front."""
    return b.axis(p.int(name, default), rank)


def spatial(b: NodeBuilder, p: TextMessage, name: str, rank: int, default: int, short: str = "") -> list[int]:
    """A number for each spatial axis: one for all, one each, or those of height and width by their own names."""
    short = short or name
    if p.words(f"{short}_h") or p.words(f"{short}_w"):
        found = [p.int(f"{short}_h", default), p.int(f"{short}_w", default)]
    else:
        found = p.ints(name) or [default]
    found = found * rank if len(found) == 1 else found
    least = 0 if name == "pad" else 1
    if len(found) != rank or not all(least <= n <= LARGEST for n in found):
        raise b.fail(f"{name} = {found[:8]} does not fit {rank} axes")
    return found


def _window(b: NodeBuilder, p: TextMessage, x: Value) -> tuple[list[int], dict[str, Any]]:
    """The kernel of a convolution, and its attributes."""
    rank = x.rank - 2
    if rank not in (1, 2, 3) or axis_of(b, p, x.rank) != 1:
        raise b.unsupported(f"{x} is convolved along other axes than those behind the channels")
    kernel = spatial(b, p, "kernel_size", rank, 0, "kernel")
    pads = spatial(b, p, "pad", rank, 0)
    attrs = {
        "strides": spatial(b, p, "stride", rank, 1), "padding": pads * 2, "kernel_size": kernel,
        "dilation": spatial(b, p, "dilation", rank, 1),
    }  # fmt: skip
    return kernel, attrs


def _counts(b: NodeBuilder, node: NetworkNode, p: TextMessage, x: Value) -> tuple[int, int]:
    """The channels of the result and the groups."""
    outputs, groups = p.int("num_output"), p.int("group", 1)
    if node.op in ("DepthwiseConvolution", "ConvolutionDepthwise"):
        groups = x.shape[1]
    if not 0 < outputs <= LARGEST or groups < 1 or outputs % groups or x.shape[1] % groups:
        raise b.fail(f"{x.shape[1]} channels become {outputs} in {groups} groups")
    return outputs, groups


def _with_bias(b: NodeBuilder, node: NetworkNode, p: TextMessage, y: Value, outputs: int, axis: int = 1) -> Value:
    return b.op("nn.bias_add", y, blob(b, node, 1, (outputs,)), axis=axis) if p.bool("bias_term", True) else y


@TABLE.op("Convolution", "DepthwiseConvolution", "ConvolutionDepthwise")
def convolution(b: NodeBuilder, node: NetworkNode, *given: Value) -> list[Value]:
    """Kernels [outputs, channels / groups, ...], the same for each input of several."""
    p = parameters(node, "convolution_param")
    results: list[Value] = []
    for x in given:
        kernel, attrs = _window(b, p, x)
        outputs, groups = _counts(b, node, p, x)
        w = blob(b, node, 0, (outputs, x.shape[1] // groups, *kernel))
        y = b.op(f"nn.conv{x.rank - 2}d", x, w, **attrs, groups=groups, channels=outputs)
        results.append(_with_bias(b, node, p, y, outputs))
    return results


@TABLE.op("Deconvolution")
def deconvolution(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Kernels [channels, outputs / groups, ...]."""
    p = parameters(node, "convolution_param")
    kernel, attrs = _window(b, p, x)
    outputs, groups = _counts(b, node, p, x)
    w = blob(b, node, 0, (x.shape[1], outputs // groups, *kernel))
    y = b.op(f"nn.conv{x.rank - 2}d_transpose", x, w, **attrs, groups=groups, channels=outputs)
    return _with_bias(b, node, p, y, outputs)


@TABLE.op("InnerProduct")
def inner_product(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """All axes from `axis` on, as a row, times a matrix [outputs, inputs], or [inputs, outputs] with `transpose`."""
    p = parameters(node, "inner_product_param")
    axis, outputs = axis_of(b, p, x.rank), p.int("num_output")
    before, inputs = x.shape[:axis], prod(x.shape[axis:])
    if not 0 < outputs <= 1 << 30:
        raise b.fail(f"num_output = {outputs} is out of range")
    if p.bool("transpose"):
        w = blob(b, node, 0, (inputs, outputs))
        w = b.constant(np.ascontiguousarray(b.known(w, "the weight").T), name=w.name)
    else:
        w = blob(b, node, 0, (outputs, inputs))
    y = b.op("nn.dense", b.reshape(x, (prod(before), inputs)), w, units=outputs)
    return b.reshape(_with_bias(b, node, p, y, outputs), (*before, outputs))


@TABLE.op("Pooling")
def pooling(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The number of windows is rounded up; a mean counts the padding, but not what lies behind it."""
    p = parameters(node, "pooling_param")
    kind = {"MAX": "max", "0": "max", "AVE": "avg", "1": "avg"}.get(p.word("pool", "MAX"))
    rank = x.rank - 2
    if kind is None or rank not in (1, 2, 3):
        raise b.unsupported(f"pool: {shown(p.word('pool', 'MAX'))} of {x} is not supported")
    if p.bool("global_pooling"):
        axes = list(range(2, x.rank))
        return b.op("max" if kind == "max" else "mean", x, axis=axes, keepdims=True)
    kernel, strides = spatial(b, p, "kernel_size", rank, 0, "kernel"), spatial(b, p, "stride", rank, 1)
    pads = spatial(b, p, "pad", rank, 0) * 2
    is_ceil = p.bool("ceil_mode", True) and p.word("round_mode", "CEIL") in ("CEIL", "0")
    attrs: dict[str, Any] = {"pool_size": kernel, "strides": strides, "padding": pads, "ceil_mode": is_ceil}
    try:
        windows(x.shape[2:], kernel, strides, [1] * rank, pads, is_ceil)
    except TypeMismatch as e:
        raise b.fail(str(e)) from None
    if kind == "avg":
        attrs["count_include_pad"] = True
    return b.op(f"nn.{kind}_pool{rank}d", x, **attrs)


@TABLE.op("Embed")
def embed(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Rows of a table [inputs, outputs]; the indices are whole numbers held as floats."""
    p = parameters(node, "embed_param")
    inputs, outputs = p.int("input_dim"), p.int("num_output")
    if min(inputs, outputs) < 1:
        raise b.fail(f"a table of {inputs} rows of {outputs} is out of range")
    table = blob(b, node, 0, (inputs, outputs))
    y = b.op("take", table, b.cast(x, "int32"), axis=0, mode="clip")
    return _with_bias(b, node, p, y, outputs, axis=-1)


@TABLE.op("ROIPooling")
def roi_pooling(b: NodeBuilder, node: NetworkNode, x: Value, rois: Value) -> Value:
    """The largest of each cell of a grid over regions, rows (image, x0, y0, x1, y1)."""
    p = parameters(node, "roi_pooling_param")
    size = [p.int("pooled_h"), p.int("pooled_w")]
    if not all(0 < e <= LARGEST for e in size):
        raise b.fail(f"a grid of {size} is out of range")
    rois = b.reshape(rois, (rois.shape[0], prod(rois.shape[1:])))
    return b.op("vision.roi_pool", x, rois, pooled_size=size, spatial_scale=p.float("spatial_scale", 1.0))
