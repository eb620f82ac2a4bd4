"""Pools over windows, over whole images, and over as many windows as are asked for."""

from __future__ import annotations

from lamina.frontends.builder import Value
from lamina.frontends.keras.table import Layer, layer
from lamina.frontends.keras.windows import check_image, image_axes, layout, padding_of
from lamina.frontends.network import NodeBuilder

_ALL = ("1D", "2D", "3D")


def _rank_of(layer: Layer) -> int:
    return int(layer.described.class_name[-2])


@layer(*(f"{kind}Pooling{n}" for n in _ALL for kind in ("Max", "Average")))
def pool(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """The largest or the mean of each window; padding is no part of a window."""
    rank = _rank_of(layer)
    check_image(b, x, rank)
    size = layer.ints("pool_size", rank, 2)
    strides = layer.ints("strides", rank, size)
    kind = "max" if layer.described.class_name.startswith("Max") else "avg"
    pads = padding_of(b, layer, x, size, strides, [1] * rank)
    return b.op(f"nn.{kind}_pool{rank}d", x, pool_size=size, strides=strides, padding=pads, layout=layout(layer, rank))


@layer(*(f"GlobalMaxPooling{n}" for n in _ALL), *(f"GlobalAveragePooling{n}" for n in _ALL), masked=True)
def global_pool(b: NodeBuilder, layer: Layer, x: Value, mask: Value | None = None) -> Value:
    """The largest or the mean of an image; of a sequence with a mask, the mean of the steps that are there."""
    rank = _rank_of(layer)
    check_image(b, x, rank)
    axes = image_axes(layer, rank)
    keepdims = layer.flag("keepdims")
    if layer.described.class_name.startswith("GlobalMax"):
        return b.op("max", x, axis=axes, keepdims=keepdims)
    own = mask if isinstance(mask, Value) else layer.mask_of(x)
    if own is None or rank != 1:
        return b.op("mean", x, axis=axes, keepdims=keepdims)
    there = b.op("expand_dims", b.cast(own, x.dtype), axis=1 if layer.channels_first else 2)
    total = b.op("sum", b.mul(x, there), axis=axes, keepdims=keepdims)
    return b.div(total, b.op("sum", there, axis=axes, keepdims=keepdims))


@layer(*(f"Adaptive{kind}Pooling{n}" for n in _ALL for kind in ("Max", "Average")))
def adaptive_pool(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """The largest or the mean of each of so many windows, which cover the image."""
    rank = _rank_of(layer)
    check_image(b, x, rank)
    kind = "max" if layer.described.class_name.startswith("AdaptiveMax") else "avg"
    size = layer.ints("output_size", rank)
    return b.op(f"nn.adaptive_{kind}_pool{rank}d", x, output_size=size, layout=layout(layer, rank))
