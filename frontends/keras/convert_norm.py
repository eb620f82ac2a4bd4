"""Normalisations. Those of 16-bit floats are computed in float32 and rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.frontends.builder import Value
from lamina.frontends.keras.table import Layer, layer
from lamina.frontends.keras.tensors import listed
from lamina.frontends.network import NodeBuilder

_WIDE = {"float16": "float32", "bfloat16": "float32"}


def _wide(b: NodeBuilder, x: Value) -> Value:
    return b.cast(x, _WIDE.get(x.dtype, x.dtype))


def _along(b: NodeBuilder, v: Value, axes: Sequence[int], rank: int) -> Value:
    """A weight with an extent for each of some axes, to be broadcast with a tensor."""
    if v.rank != len(axes):
        raise b.fail(f"the weight {v} does not fit {len(axes)} axes")
    shape = [1] * rank
    for axis, extent in zip(axes, v.shape, strict=True):
        shape[axis] = extent
    return b.reshape(v, shape)


def _axes(b: NodeBuilder, given: Any, rank: int) -> list[int]:
    return sorted({b.axis(int(a), rank) for a in listed(given)})


def _moments(b: NodeBuilder, x: Value, axes: list[int]) -> tuple[Value, Value]:
    """The mean and the variance along axes, which stay with one element."""
    mean = b.op("mean", x, axis=axes, keepdims=True)
    away = b.sub(x, mean)
    return mean, b.op("mean", b.mul(away, away), axis=axes, keepdims=True)


@layer("BatchNormalization", passes=True)
def batch_normalization(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """(x - mean) / sqrt(variance + epsilon) gamma + beta, by the moments that training has found."""
    given = layer.get("axis", -1)
    (axis,) = _axes(b, given, x.rank)
    wide = _wide(b, x)
    gamma, beta = layer.some_weight("gamma"), layer.some_weight("beta")
    mean, variance = layer.weight("moving_mean"), layer.weight("moving_variance")
    if mean.shape != (x.shape[axis],):
        raise b.fail(f"the mean {mean} does not fit {x}")
    one, zero = b.filled(1.0, mean.shape, wide.dtype), b.filled(0.0, mean.shape, wide.dtype)
    operands = [b.cast(v, wide.dtype) for v in (gamma or one, beta or zero, mean, variance)]
    y = b.ops(
        "nn.batch_norm", wide, *operands, axis=axis, epsilon=float(layer.get("epsilon", 1e-3)),
        center=beta is not None, scale=gamma is not None,
    )[0]  # fmt: skip
    return b.cast(y, layer.dtype)


@layer("LayerNormalization", passes=True)
def layer_normalization(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """(x - mean) / sqrt(variance + epsilon) gamma + beta, by the moments along some axes of each tensor."""
    axes = _axes(b, layer.get("axis", -1), x.rank)
    wide, epsilon = _wide(b, x), float(layer.get("epsilon", 1e-3))
    gamma, beta = layer.some_weight("gamma"), layer.some_weight("beta")
    if layer.flag("rms_scaling"):
        _, variance = _moments(b, wide, axes)
        y = b.mul(wide, b.op("rsqrt", b.add(variance, epsilon)))
    elif axes == [x.rank - 1]:
        extent = (x.shape[-1],)
        one, zero = b.filled(1.0, extent, wide.dtype), b.filled(0.0, extent, wide.dtype)
        operands = [b.cast(v, wide.dtype) for v in (gamma or one, beta or zero)]
        return b.cast(b.op("nn.layer_norm", wide, *operands, axis=-1, epsilon=epsilon), layer.dtype)
    else:
        mean, variance = _moments(b, wide, axes)
        y = b.mul(b.sub(wide, mean), b.op("rsqrt", b.add(variance, epsilon)))
    if gamma is not None:
        y = b.mul(y, b.cast(_along(b, gamma, axes, x.rank), wide.dtype))
    if beta is not None:
        y = b.add(y, b.cast(_along(b, beta, axes, x.rank), wide.dtype))
    return b.cast(y, layer.dtype)


@layer("RMSNormalization")
def rms_normalization(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """x / sqrt(mean(x x) + epsilon) scale."""
    axes = _axes(b, layer.get("axis", -1), x.rank)
    wide = _wide(b, x)
    mean = b.op("mean", b.mul(wide, wide), axis=axes, keepdims=True)
    y = b.mul(wide, b.op("rsqrt", b.add(mean, float(layer.get("epsilon", 1e-6)))))
    return b.cast(b.mul(y, b.cast(_along(b, layer.weight("scale"), axes, x.rank), wide.dtype)), layer.dtype)


@layer("GroupNormalization", passes=True)
def group_normalization(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """A normalisation by the moments of groups of channels."""
    axis = b.axis(int(layer.get("axis", -1)), x.rank)
    channels, groups = x.shape[axis], int(layer.get("groups", 32))
    groups = channels if groups == -1 else groups
    if groups < 1 or channels % groups:
        raise b.fail(f"{channels} channels have no {groups} groups")
    wide = _wide(b, x)
    apart = b.reshape(wide, (*x.shape[:axis], groups, channels // groups, *x.shape[axis + 1 :]))
    mean, variance = _moments(b, apart, [a for a in range(1, apart.rank) if a != axis])
    inverse = b.op("rsqrt", b.add(variance, float(layer.get("epsilon", 1e-3))))
    y = b.reshape(b.mul(b.sub(apart, mean), inverse), x.shape)
    for name, op in (("gamma", b.mul), ("beta", b.add)):
        own = layer.some_weight(name)
        if own is not None:
            y = op(y, b.cast(_along(b, own, [axis], x.rank), wide.dtype))
    return b.cast(y, layer.dtype)


@layer("UnitNormalization", passes=True)
def unit_normalization(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """x over its Euclidean length along some axes."""
    return unit(b, x, _axes(b, layer.get("axis", -1), x.rank), 1e-12)


def unit(b: NodeBuilder, x: Value, axes: list[int], epsilon: float) -> Value:
    """x / max(length, epsilon), the length along axes."""
    inverse = b.op("rsqrt", b.op("sum", b.mul(x, x), axis=axes, keepdims=True))
    return b.mul(x, b.one("minimum", inverse, 1.0 / epsilon))
