"""Gradients of normalisations and losses, through the programs of simpler ops that they are."""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.declare import *


def nll_loss_gradients(grads: Values, operands: Values, reduction: str, ignore_index: int) -> list[Any]:
    """Through the class of each target as a mask."""
    classes = shape_of(operands[2])[0]
    place = min(rank_of(operands[0]) - 1, 1)
    later = rank_of(operands[0]) - 1 - place

    def plain(predictions: Any, targets: Any, weights: Any) -> Any:
        wide = r.expand_dims(r.cast(targets, dtype="int64"), axis=place)
        number_of = constant(np.arange(classes).reshape(-1, *(1 for _ in range(later))))
        hot = r.equal(r.minimum(r.maximum(wide, 0), classes - 1), number_of)
        hot = r.logical_and(hot, r.not_equal(wide, ignore_index))
        along = r.expand_dims(weights, axis=1, num_newaxis=later) if later else weights
        loss = r.negative(r.sum(selected(hot, r.multiply(predictions, along)), axis=(place,)))
        if reduction == "none":
            return loss
        if reduction == "sum":
            return r.sum(loss)
        return r.divide(r.sum(loss), r.sum(selected(hot, r.multiply(r.ones_like(predictions), along))))

    return through(plain, grads, operands)


def scaled_and_moved(y: Any, gamma: Any, beta: Any, axis: int, center: bool, scale: bool) -> Any:
    """y * gamma + beta, as `scale` and `center` say, the two along an axis."""
    if scale:
        y = r.multiply(y, along_axis(gamma, axis, y))
    return r.add(y, along_axis(beta, axis, y)) if center else y


def norm_gradients(
    grads: Values,
    operands: Values,
    axes: tuple[int, ...],
    axis: int,
    epsilon: float,
    center: bool,
    scale: bool,
    groups: int = 0,
) -> list[Any]:
    """Of (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and variance over `axes`: with `groups` those of
    the tensor whose `axis` is split into groups and the channels of each."""

    def plain(x: Any, gamma: Any, beta: Any) -> Any:
        shape = shape_of(x)
        channel = normalize_axis(axis, len(shape))
        split = (*shape[:channel], groups, shape[channel] // max(groups, 1), *shape[channel + 1 :])
        whole = to_shape(x, split) if groups else x
        distance = r.subtract(whole, r.mean(whole, axis=axes, keepdims=True)) if axes else r.subtract(whole, whole)
        squares = r.multiply(distance, distance)
        variance = r.mean(squares, axis=axes, keepdims=True) if axes else squares
        y = r.multiply(distance, r.rsqrt(r.add(variance, epsilon)))
        return scaled_and_moved(to_shape(y, shape) if groups else y, gamma, beta, axis, center, scale)

    return through(plain, grads, operands)


def lrn_gradients(
    grads: Values, operands: Values, size: int, axis: int, bias: float, alpha: float, beta: float
) -> list[Any]:
    """Through the sum of `size` slices of the squares, moved against each other."""

    def plain(data: Any) -> Any:
        shape = shape_of(data)
        x, channel = data, normalize_axis(axis, len(shape))
        blocks = len(shape) == 5
        if blocks:
            n, c, h, w, b = shape
            x = to_shape(r.transpose(data, axes=(0, 1, 4, 2, 3)), (n, c * b, h, w))
        extent = shape_of(x)[channel]
        widths = [0] * (2 * rank_of(x))
        widths[2 * channel : 2 * channel + 2] = [(size - 1) // 2, size // 2]
        padded = r.nn.pad(r.multiply(x, x), pad_width=widths)
        total = None
        for tap in range(size):
            part = r.strided_slice(padded, begin=(tap,), end=(tap + extent,), axes=(channel,))
            total = part if total is None else r.add(total, part)
        base = r.add(r.multiply(total, alpha / size), bias)
        y = r.multiply(x, r.power(base, -beta))
        if not blocks:
            return y
        n, c, h, w, b = shape
        return r.transpose(to_shape(y, (n, c, b, h, w)), axes=(0, 1, 3, 4, 2))

    return through(plain, grads, operands)
