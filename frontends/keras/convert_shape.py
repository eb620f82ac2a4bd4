"""Layers that move elements, cut them off, repeat them or put others around them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, cast

import numpy as np

from lamina.errors import shown
from lamina.frontends.builder import Value
from lamina.frontends.keras.table import Layer, layer
from lamina.frontends.keras.windows import check_image, image_axes
from lamina.frontends.network import NodeBuilder


@layer("Flatten", casts=False)
def flatten(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """All axes but the first as one; channels that stand first are moved behind."""
    if layer.channels_first and x.rank > 2:
        x = b.transpose(x, (0, *range(2, x.rank), 1))
    return b.reshape(x, (x.shape[0] if x.rank else 1, prod(x.shape[1:])))


@layer("Reshape", casts=False)
def reshape(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    return reshaped(b, x, [x.shape[0], *layer.described.config["target_shape"]])


def reshaped(b: NodeBuilder, x: Value, shape: Sequence[Any]) -> Value:
    """The tensor in a shape with at most one open extent, which is -1 or None."""
    extents = [-1 if e is None else int(b.number(e, "an extent")) for e in shape]
    known = prod(e for e in extents if e != -1)
    if extents.count(-1) > 1 or -1 in extents and known == 0:
        raise b.fail(f"the shape {extents} does not say all extents")
    found = [prod(x.shape) // known if e == -1 else e for e in extents]
    if prod(found) != prod(x.shape):
        raise b.fail(f"{x} has not as many elements as the shape {extents}")
    return b.reshape(x, found)


@layer("Permute", casts=False)
def permute(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """The axes behind the first in another order, counted from 1."""
    dims = [int(d) for d in layer.get("dims", ())]
    if sorted(dims) != list(range(1, x.rank)):
        raise b.fail(f"{dims} is no order of the axes of {x}")
    return b.transpose(x, [0, *dims])


@layer("RepeatVector", casts=False)
def repeat_vector(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    return b.op("repeat", b.op("expand_dims", x, axis=1), repeats=int(layer.get("n", 1)), axis=1)


@layer("Cropping1D", "Cropping2D", "Cropping3D")
def cropping(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """The rest of an image without so many elements at both ends of each axis."""
    pairs = _pairs(b, layer, x, "cropping")
    for axis, (before, after) in zip(image_axes(layer, len(pairs)), pairs, strict=True):
        if before + after >= x.shape[axis]:
            raise b.fail(f"{before} and {after} elements are cut off axis {axis} of {x}")
        x = b.slice(x, axis, before, x.shape[axis] - after)
    return x


@layer("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def zero_padding(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    pairs = _pairs(b, layer, x, "padding")
    widths = [0] * 2 * x.rank
    for axis, pair in zip(image_axes(layer, len(pairs)), pairs, strict=True):
        widths[2 * axis : 2 * axis + 2] = pair
    return b.op("nn.pad", x, pad_width=widths) if any(widths) else x


def _pairs(b: NodeBuilder, layer: Layer, x: Value, key: str) -> list[tuple[int, int]]:
    """The numbers of elements at both ends of each axis of an image."""
    rank = int(layer.described.class_name[-2])
    check_image(b, x, rank)
    given = layer.get(key, 1)
    listed: list[Any] = [given] * rank if isinstance(given, int) else list(given)
    if rank == 1 and len(listed) == 2:
        listed = [listed]
    pairs: list[tuple[int, int]] = []
    for entry in listed:
        before, after = (entry, entry) if isinstance(entry, int) else cast("list[int]", entry)
        pairs.append((int(before), int(after)))
    if len(pairs) != rank or min(min(p) for p in pairs) < 0:
        raise b.fail(f"{key} is {shown(str(given))}")
    return pairs


@layer("UpSampling1D", "UpSampling2D", "UpSampling3D")
def up_sampling(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """Each element repeated along the axes of an image, or the image interpolated."""
    from lamina.frontends.keras.images import resized

    rank = int(layer.described.class_name[-2])
    check_image(b, x, rank)
    size = layer.ints("size", rank, 2)
    axes = image_axes(layer, rank)
    method = str(layer.get("interpolation", "nearest")).lower()
    if method != "nearest":
        return resized(b, x, axes, [x.shape[a] * n for a, n in zip(axes, size, strict=True)], method)
    for axis, count in zip(axes, size, strict=True):
        if count != 1:
            x = b.op("repeat", x, repeats=count, axis=axis)
    return x


@layer("TimeDistributed.fold", casts=False)
def fold_steps(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """The steps of all sequences as one batch."""
    if x.rank < 3:
        raise b.fail(f"{x} has no steps")
    folded = b.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))
    mask = layer.mask_of(x)
    if mask is not None and mask.rank > 2:
        raise b.unsupported("a mask of steps in steps is not supported")
    return folded


@layer("TimeDistributed.unfold", casts=False)
def unfold_steps(b: NodeBuilder, layer: Layer, y: Value, x: Value) -> Value:
    """The results of a batch of steps as those of sequences."""
    found = b.reshape(y, (x.shape[0], x.shape[1], *y.shape[1:]))
    mask = layer.mask_of(x)
    if mask is not None:
        b.notes[found] = mask
    return found


@layer("Embedding", casts=False)
def embedding(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """The rows of a table that indices name; with `mask_zero` the index 0 is a step that is not there."""
    index = x if x.dtype in ("int32", "int64") else b.cast(x, "int32")
    table = layer.weight("embeddings")
    found = b.op("take", table, index, axis=0, mode="clip")
    if layer.flag("mask_zero"):
        b.notes[found] = b.op("not_equal", index, b.constant(np.asarray(0, index.dtype)))
    return found


@layer("ReversibleEmbedding", casts=False)
def reversible_embedding(b: NodeBuilder, layer: Layer, x: Value, reverse: bool = False) -> Value:
    """An embedding, or in reverse the products with its rows."""
    if not reverse:
        return embedding(b, layer, x)
    from lamina.frontends.keras.convert_core import product

    other = layer.some_weight("reverse_embeddings")
    kernel = b.transpose(layer.weight("embeddings"), (1, 0)) if other is None else other
    y = product(b, b.cast(x, layer.dtype), kernel)
    cap = layer.get("logit_soft_cap")
    return y if cap is None else b.mul(b.op("tanh", b.div(y, float(cap))), float(cap))


@layer("Masking")
def masking(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """Zeros for steps all of whose features are one number; such steps are not there for what follows."""
    differs = b.op("not_equal", x, b.scalar(float(layer.get("mask_value", 0.0)), x))
    found = b.choose(b.op("any", differs, axis=[x.rank - 1], keepdims=True), x, 0.0)
    b.notes[found] = b.op("any", differs, axis=[x.rank - 1], keepdims=False)
    return found


@layer("Masked", casts=False)
def with_mask(b: NodeBuilder, layer: Layer, x: Value, mask: Value) -> Value:
    """A tensor with a mask that a call gives it, in the place of its own."""
    found = Value(x.shape, x.dtype, ssa=x.ssa, array=x.array, name=x.name)
    b.notes[found] = mask
    return found


@layer("Images.last", casts=False)
def channels_last(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """Images NCHW as NHWC."""
    return b.transpose(x, (0, 2, 3, 1))


@layer("Images.first", casts=False)
def channels_first(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """Images NHWC as NCHW, other results as they are."""
    return b.transpose(x, (0, 3, 1, 2)) if x.rank == 4 else x
