"""Paths of a factor along channels: the questions that the equations of relay-fold-scale-axis ask of a program.

A factor moves step by step, past a bias or an activation at a time, and each step is an equation. None of them saves
anything by itself: a step is taken only where every path ends in weights, so that the factor is gone in the end.

    behind    relu(conv(x, w) + b) * s        up from the product, through values that nothing else reads
    before    conv(relu(x * s) + b, w)        down from the product, to everything that reads it
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.ir import Operation, SSAValue

from lamina.dialects.dtypes import is_float
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of, normalize_axis
from lamina.dialects.relay.core import constant_value
from lamina.dialects.relay.layout import block_of, extents, parse_layout
from lamina.dialects.rules.terms import computed

Ints = tuple[int, ...]

CONVOLUTIONS = frozenset(f"relay.nn.{n}" for n in ("conv1d", "conv2d", "conv3d"))
TRANSPOSED = frozenset(("relay.nn.conv2d_transpose",))
BLOCKED = frozenset(("relay.nn.contrib_conv2d_NCHWc",))
DENSE = "relay.nn.dense"
ACTIVATIONS = frozenset(("relay.nn.relu", "relay.nn.leaky_relu"))
BIASES = frozenset(("relay.add", "relay.subtract"))
BIAS_ADD = "relay.nn.bias_add"
DEEPEST = 32
"""So many biases and activations one behind the other are looked through."""


@computed
def along_channels(shape: Ints, layout: str, data: Ints) -> bool:
    """Whether a factor of that shape has one number a channel, or one for all, of data in the layout."""
    return fits_channels(shape, layout, data)


def fits_channels(shape: Ints, layout: str, data: Ints) -> bool:
    """As `along_channels`."""
    axes = parse_layout(layout)
    if len(shape) > len(axes) or len(data) != len(axes):
        return False
    whole = (1,) * (len(axes) - len(shape)) + tuple(shape)
    if any(e != 1 and a.letter.upper() != "C" for e, a in zip(whole, axes, strict=True)):
        return False
    # A channel that is split over two axes is met by both or by none.
    numbers = [(e, d) for e, d, a in zip(whole, data, axes, strict=True) if a.letter.upper() == "C"]
    return all(e == 1 for e, _ in numbers) or all(e == d for e, d in numbers)


@computed
def on_axis(shape: Ints, layout: str, letter: str) -> Ints:
    """The shape that puts the numbers of a factor on an axis of the kernel, whole or in blocks."""
    count, block = prod(shape), block_of(layout, letter)
    if count == 1:
        return (1,) * len(parse_layout(layout))
    sizes = {letter: count // block, letter.lower(): block}
    return tuple(sizes.get(a.letter, 1) for a in parse_layout(layout))


@computed
def fills(shape: Ints, kernel: Ints, layout: str, letter: str) -> bool:
    """Whether a factor has a number for all that the kernel has on an axis, or one for all."""
    return fills_axis(shape, kernel, layout, letter)


def fills_axis(shape: Ints, kernel: Ints, layout: str, letter: str) -> bool:
    """As `fills`."""
    return prod(shape) in (1, extents(layout, kernel)[letter])


@computed
def depthwise(kernel: Ints, layout: str, groups: int) -> bool:
    """Whether each channel has a kernel of its own."""
    return is_depthwise(kernel, layout, groups)


def is_depthwise(kernel: Ints, layout: str, groups: int) -> bool:
    """As `depthwise`."""
    sizes = extents(layout, kernel)
    return groups == sizes["O"] and sizes["I"] == 1


@computed
def along_last(shape: Ints) -> bool:
    """Whether a factor differs along the last axis alone."""
    return all(e == 1 for e in shape[:-1])


@computed
def on_bias(shape: Ints, rank: int, axis: int) -> bool:
    """Whether the numbers of a factor are those of a bias along an axis, or one for all."""
    return fits_bias(shape, rank, axis)


def fits_bias(shape: Ints, rank: int, axis: int) -> bool:
    """As `on_bias`."""
    place = normalize_axis(axis, rank) - (rank - len(shape))
    return all(e == 1 or n == place for n, e in enumerate(shape))


@computed
def positive(value: Any) -> bool:
    """Whether a factor is known and greater than zero everywhere, so that it moves past a relu."""
    return value is not None and bool((value > 0).all())


@computed
def nonzero(value: Any) -> bool:
    """Whether a factor is known and zero nowhere, so that one can divide by it."""
    return value is not None and bool((value != 0).all())


@computed
def floating(dtype: str) -> bool:
    """A ReLU does not commute with integers that wrap, and they have no quotients."""
    return is_float(dtype)


# -- behind: up to the weights ------------------------------------------------------------------------


@computed
def absorbed_above(value: SSAValue | None, shape: Ints, is_positive: bool, everything: bool) -> bool:
    """Whether weights take a factor of that shape from a value, on all the paths that lead to it.

    Without `everything` these have to be constants. Of a value that is drawn, not computed by a program, always.
    """
    return value is None or _above(value, shape, is_positive, everything, DEEPEST)


def _above(value: SSAValue, shape: Ints, is_positive: bool, everything: bool, depth: int) -> bool:
    op = value.owner
    if not isinstance(op, RelayOp) or not value.has_one_use() or not depth:
        return False
    info = tensor_info(value.type)
    if op.name in ACTIVATIONS:
        passes = is_positive and is_float(info.dtype)
        return passes and _above(op.operands[0], shape, is_positive, everything, depth - 1)
    if op.name == BIAS_ADD:
        if not fits_bias(shape, len(info.shape), attrs_of(op)["axis"]):
            return False
        return _above(op.operands[0], shape, is_positive, everything, depth - 1)
    if op.name in BIASES:
        taken = [_above(o, shape, is_positive, everything, depth - 1) for o in op.operands]
        return any(taken) and all(t or is_bias(o) for t, o in zip(taken, op.operands, strict=True))
    return _weights_behind(op, shape, everything)


def _weights_behind(op: RelayOp, shape: Ints, everything: bool) -> bool:
    """Whether the weights of an op take a factor of its result."""
    if not _is_product(op) or not (everything or constant_value(op.operands[1]) is not None):
        return False
    attrs, result = attrs_of(op), tensor_info(op.results[0].type).shape
    kernel = tensor_info(op.operands[1].type).shape
    if attrs["out_dtype"]:
        return False
    if op.name == DENSE:
        return all(e == 1 for e in shape[:-1])
    if op.name in BLOCKED:
        layout = attrs["kernel_layout"]
        return fits_channels(shape, attrs["out_layout"], result) and fills_axis(shape, kernel, layout, "O")
    if attrs["out_layout"] or (op.name in TRANSPOSED and attrs["groups"] != 1):
        return False
    return fits_channels(shape, attrs["data_layout"], result)


def _is_product(op: Operation) -> bool:
    return op.name in CONVOLUTIONS or op.name in TRANSPOSED or op.name in BLOCKED or op.name == DENSE


@computed
def beside(value: SSAValue | None, shape: Ints, is_positive: bool, everything: bool) -> bool:
    """Whether the other operand of a sum takes a factor too: a bias, which is small, or weights above it."""
    return value is None or is_bias(value) or _above(value, shape, is_positive, everything, DEEPEST)


def is_bias(value: SSAValue) -> bool:
    """Whether a value is added to others by one number, or one a channel; a constant may be of any shape."""
    return constant_value(value) is not None or sum(e != 1 for e in tensor_info(value.type).shape) <= 1


# -- before: down to the weights ----------------------------------------------------------------------


@computed
def absorbed_below(
    value: SSAValue | None, shape: Ints, is_positive: bool, has_quotients: bool, everything: bool
) -> bool:
    """Whether weights take a factor of that shape from all that reads a value.

    Without `everything` these have to be constants. Of a value that is drawn, not read by a program, always.
    """
    return value is None or _below(value, shape, is_positive, has_quotients, everything, DEEPEST)


def _below(value: SSAValue, shape: Ints, is_positive: bool, has_quotients: bool, everything: bool, depth: int) -> bool:
    uses = list(value.uses)
    if not uses or not depth:
        return False
    info = tensor_info(value.type)
    for use in uses:
        op = use.operation
        if not isinstance(op, RelayOp):
            return False
        if op.name in ACTIVATIONS:
            passes = is_positive and is_float(info.dtype)
        elif op.name in BIASES:
            # b - x * s would need another sign.
            first = use.index == 0 or op.name == "relay.add"
            passes = has_quotients and first and is_bias(op.operands[1 - use.index]) and is_float(info.dtype)
            passes = passes and op.results[0].type == value.type and op.operands[1 - use.index] is not value
        else:
            if use.index or not _weights_before(op, shape, info.shape, everything):
                return False
            continue
        if not passes or not _below(op.results[0], shape, is_positive, has_quotients, everything, depth - 1):
            return False
    return True


def _weights_before(op: RelayOp, shape: Ints, data: Sequence[int], everything: bool) -> bool:
    """Whether the weights of an op take a factor of its data."""
    if not _is_product(op) or op.name in TRANSPOSED:
        return False
    if not everything and constant_value(op.operands[1]) is None:
        return False
    attrs, kernel = attrs_of(op), tensor_info(op.operands[1].type).shape
    if attrs["out_dtype"]:
        return False
    if op.name == DENSE:
        return all(e == 1 for e in shape[:-1])
    layout = attrs["kernel_layout"]
    if op.name in BLOCKED:
        fits = attrs["groups"] == 1 and fills_axis(shape, kernel, layout, "I")
    else:
        fits = not attrs["out_layout"] and (attrs["groups"] == 1 or is_depthwise(kernel, layout, attrs["groups"]))
    return fits and fits_channels(shape, attrs["data_layout"], tuple(data))


__all__ = [
    "absorbed_above", "absorbed_below", "along_channels", "along_last", "beside", "depthwise", "fills",
    "floating", "nonzero", "on_axis", "on_bias", "positive",
]  # fmt: skip
