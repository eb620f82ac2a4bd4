"""Rules for ops whose operands may be on channel blocks: the table behind relay-alter-op-layout.

`plan` is given, for each operand, its plain type, whether it is at home on blocks, and whether it is a constant. It
answers in which layout the op wants each operand, and which op on blocks it becomes; None keeps the op plain.

Lanes that pad the last block hold zeros at first, and whatever ops make of these: a convolution that reads them says
so (`Plan.reads_spare`). Only an integer division by them would be an error of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple, TypeAlias

from lamina.dialects.dtypes import is_float
from lamina.dialects.infos import TensorInfo, hint_of, is_always, surely_equal, surely_same, tensor_info
from lamina.dialects.relay.base import OpPattern, RelayOp, attrs_of
from lamina.dialects.relay.layout import block_of
from lamina.dialects.relay.qnn import scales as qs

PLAIN = "NCHW"
LEAST_PART = 4
"""Input channels of a kernel's smaller blocks: the loop over fewer steps costs what they save."""
LOOP_CHANNELS = 0.5
"""The cost of a step of the loop over a kernel's blocks, in channels."""

MOST_STRIDE = 4
"""Pixels farther apart make no vectors."""
COPY_CYCLES = 0.6
"""To copy an element beside padding."""
TRANSPOSE_CYCLES = 1.2
"""To bring an element to another layout."""


class Offer(NamedTuple):
    """An operand as it stands."""

    info: TensorInfo
    blocked: bool
    """It is computed on blocks."""
    constant: bool


@dataclass(frozen=True)
class Plan:
    """An op on blocks: the layouts of its operands ("" as it is), and the changed op and attributes."""

    inputs: tuple[str, ...]
    attrs: dict[str, Any] = field(default_factory=dict[str, Any])
    op: str = ""
    reads_spare: bool = False
    """The op sums over lanes of the first operand beyond its channels: they must hold zeros, as its weights do."""


Dots: TypeAlias = Mapping[tuple[str, str, str], int]
"""Input channels that the target's instructions multiply and add at once, by the dtypes of data, weight and sum."""
NO_DOTS: Dots = {}


def plan(
    op: RelayOp, offers: Sequence[Offer], lanes: int, v: int, dots: Dots = NO_DOTS, rows: bool = False
) -> Plan | None:
    """The plan by which an op works on blocks, None when it stays plain. The result of a planned op is in NCHW{lanes}c.

    With `rows` the target has kernels for rows of pixels in plain order, where that is less work.
    """
    if op.name == "relay.nn.conv2d":
        few_channels = rows and not offers[0].blocked and _is_less_in_rows(op, offers[1].info, lanes)
        return None if few_channels else _convolution(op, offers, lanes, v, dots)
    if not any(o.blocked for o in offers):
        return None
    if len(offers) == 1 and hasattr(op, "infer_layout"):
        return _by_facet(op, offers, lanes)
    if len(offers) > 1 and not _mostly_blocked(op, offers, lanes):
        return None
    if op.name == "relay.concatenate":
        return _concatenate(op, offers, lanes)
    if op.name == "relay.nn.pad":
        return _pad(op, offers, lanes)
    # Bytes that are parted go on to the sums of blocks; what moves pixels of floats has parted them in plain order.
    parted = op.name == "relay.annotation.stop_fusion" and offers[0].info.dtype in qs.NARROW
    if op.FUSION_KIND in (OpPattern.ELEMWISE, OpPattern.BROADCAST) or parted:
        return _elementwise(op, offers, lanes)
    return None


def _convolution(op: RelayOp, offers: Sequence[Offer], lanes: int, v: int, dots: Dots) -> Plan | None:
    attrs = attrs_of(op)
    data, weight = offers[0].info, offers[1].info
    plain = (attrs["data_layout"], attrs["kernel_layout"], attrs["out_layout"]) == (PLAIN, "OIHW", "")
    dot = dots.get((data.dtype, weight.dtype, attrs["out_dtype"] or data.dtype), 0)
    floats = data.dtype == "float32" and attrs["out_dtype"] in ("", "float32")
    channels, groups = data.shape[1], attrs["groups"]
    out, per_group = weight.shape[0], weight.shape[1]
    depthwise = groups > 1 and groups == channels == out
    # Kernels of integers that stand by themselves go along with the convolutions around them.
    integers = depthwise and bool(dots) and (data.dtype, attrs["out_dtype"]) == ("uint8", "int32")
    if not plain or not (floats or dot or integers) or not offers[1].constant:
        return None
    blocked = f"{PLAIN}{lanes}c"
    given = {"out_layout": blocked, "channels": out}
    if depthwise:
        if not offers[0].blocked and attrs["strides"][-1] == 1 and not _wants_blocks(op, lanes):
            return None  # a few taps for each element are less than two transposes
        kernel = f"OIHW1i{lanes}o"
        given |= {"data_layout": blocked, "kernel_layout": kernel}
        return Plan((blocked, kernel), given, "relay.nn.contrib_depthwise_conv2d_NCHWc")
    if groups > 1 and (dot or per_group % lanes or (out // groups) % lanes):
        return None
    # A kernel computes v blocks together: they must not straddle two groups.
    blocks = -(-(out // groups) // lanes)
    wide = lanes * (v if blocks % v == 0 else 1)
    few = channels < lanes and not offers[0].blocked
    if dot:
        # Few channels fill blocks of what the instruction takes.
        data_layout, kernel = f"{PLAIN}{dot if few else lanes}c", f"OIHW{wide}o{dot}i"
    elif few:
        # Few channels: blocks would be mostly padding.
        data_layout, kernel = PLAIN, f"OIHW{wide}o"
    else:
        # Pixels are read one channel at a time: a last block of few channels is no more steps than it has channels.
        part = lanes if groups > 1 or _may_be_winograd(weight, attrs) else _part(channels, lanes)
        data_layout, kernel = blocked, f"OIHW{part}i{wide}o"
    given |= {"data_layout": data_layout, "kernel_layout": kernel}
    # Zero weights make zeros of all integers, but not of infinities and NaN.
    spare = is_float(data.dtype) and channels % block_of(kernel, "I") != 0
    return Plan((data_layout, kernel), given, "relay.nn.contrib_conv2d_NCHWc", spare)


def _is_less_in_rows(op: RelayOp, weight: TensorInfo, lanes: int) -> bool:
    """Whether vectors of pixels take less than vectors of channels with what is transposed for these.

    Few output channels are mostly padding on blocks. Counted are cycles; rows end in masks.
    """
    (batch, _, rows, columns), attrs = map(hint_of, tensor_info(op.results[0].type).shape), attrs_of(op)
    data, (out, channels, *taps), stride = tensor_info(op.operands[0].type), weight.shape, attrs["strides"][-1]
    elements = prod(map(hint_of, data.shape))
    if attrs["groups"] > 1 or stride > MOST_STRIDE or data.dtype != "float32" or lanes == 1:
        return False
    steps = channels * prod(taps)
    # A vector's pixels are loaded across cache lines, at a stride with what is between them; half a vector's as well.
    whole, half = -(-columns // lanes), -(-columns // (lanes // 2)) / 2
    across = min(whole * (1 + 0.2 * stride), half * (1 + 0.6 * stride))
    plain = batch * rows * across * out * steps
    each = 0.5 if _may_be_winograd(weight, attrs) else 1.3 if out <= lanes else 1.0
    blocks = batch * rows * columns * -(-out // lanes) * steps * each
    if channels >= lanes:
        blocks += TRANSPOSE_CYCLES * elements
    if any(attrs["padding"]):
        blocks += COPY_CYCLES * elements
    transposed = TRANSPOSE_CYCLES * batch * out * rows * columns
    return plain + transposed < blocks if _wants_blocks(op, lanes) else plain < blocks + transposed


def _may_be_winograd(weight: TensorInfo, attrs: Mapping[str, Any]) -> bool:
    """Whether a kernel may be one of products of transformed tiles, which want whole blocks."""
    return weight.shape[2:] == (3, 3) and {*attrs["strides"], *attrs["dilation"]} == {1}


def _part(channels: int, lanes: int) -> int:
    """Input channels of a kernel's blocks: the fewest multiplications, a loop's step counted as `LOOP_CHANNELS`."""
    parts = [lanes >> n for n in range(lanes.bit_length()) if lanes >> n >= LEAST_PART]
    return min(parts or [lanes], key=lambda part: -(-channels // part) * (part + LOOP_CHANNELS))


def _mostly_blocked(op: RelayOp, offers: Sequence[Offer], lanes: int) -> bool:
    """Whether less has to be transposed to work on blocks than to work in plain order; evenly, the readers decide."""
    blocked = sum(prod(map(hint_of, o.info.shape)) for o in offers if o.blocked)
    plain = sum(prod(map(hint_of, o.info.shape)) for o in offers if not o.blocked and not o.constant)
    return blocked > plain or blocked == plain and _wants_blocks(op, lanes)


def _wants_blocks(op: RelayOp, lanes: int, depth: int = 8) -> bool:
    """Whether a result goes on to a convolution that works on blocks, through some ops that would do so as well."""
    for use in op.results[0].uses:
        user = use.operation
        if not isinstance(user, RelayOp):
            continue
        if user.name == "relay.nn.conv2d":
            shape, attrs = tensor_info(user.operands[1].type).shape, attrs_of(user)
            groups = attrs["groups"]
            if groups == 1 or not (shape[1] % lanes or shape[0] // groups % lanes):
                return True
            # One kernel a channel: on blocks where what comes after it is, and at a stride.
            depthwise = shape[:2] == (groups, 1)
            if depthwise and (attrs["strides"][-1] > 1 or depth and _wants_blocks(user, lanes, depth - 1)):
                return True
        elif depth and user.FUSION_KIND in (OpPattern.ELEMWISE, OpPattern.BROADCAST):
            if _wants_blocks(user, lanes, depth - 1):
                return True
    return False


def _by_facet(op: Any, offers: Sequence[Offer], lanes: int) -> Plan | None:
    blocked = f"{PLAIN}{lanes}c"
    choice = op.infer_layout((blocked,), (offers[0].info,), **attrs_of(op))
    if choice.inputs != (blocked,) or choice.output != blocked:
        return None
    return Plan((blocked,), dict(choice.attrs), choice.op)


def _concatenate(op: RelayOp, offers: Sequence[Offer], lanes: int) -> Plan | None:
    axis = attrs_of(op)["axis"] % len(offers[0].info.shape)
    # Pieces along the channels end at a block, save the last, whose padding is that of the result.
    if len(offers[0].info.shape) != 4 or (axis == 1 and any(o.info.shape[1] % lanes for o in offers[:-1])):
        return None
    return Plan((f"{PLAIN}{lanes}c",) * len(offers), {"axis": axis})


def _pad(op: RelayOp, offers: Sequence[Offer], lanes: int) -> Plan | None:
    attrs = attrs_of(op)
    width = attrs["pad_width"]
    if len(width) != 8 or width[2] or width[3]:
        return None
    return Plan((f"{PLAIN}{lanes}c",), {"pad_width": (*width, 0, 0)})


def _elementwise(op: RelayOp, offers: Sequence[Offer], lanes: int) -> Plan | None:
    """NumPy broadcasting on four axes goes on on five: every operand is put on blocks, scalars stay."""
    result = tensor_info(op.results[0].type).shape
    if len(result) != 4:
        return None
    # Where channels do not fill their blocks, what fills them up is divided as well.
    if result[1] % lanes and op.DIVIDES and not _has_quotients(op, offers):
        return None
    if op.FUSION_KIND in (OpPattern.ELEMWISE, OpPattern.OPAQUE) and (
        len(offers) != 1 or not surely_same(offers[0].info.shape, result)
    ):
        return None
    # An op of that kind with attributes (expand_dims, prelu, tile) names axes by them.
    if op.FUSION_KIND == OpPattern.BROADCAST and (op.properties or not _broadcasts(offers, result)):
        return None
    return Plan(tuple("" if not o.info.shape else f"{PLAIN}{lanes}c" for o in offers))


def _has_quotients(op: RelayOp, offers: Sequence[Offer]) -> bool:
    """Whether a division of zeros by zeros has results: of floats, or by one number that is not zero."""
    number = qs.known_values(op.operands[1])
    return is_float(offers[0].info.dtype) or number is not None and number.shape == () and bool(number != 0)


def _broadcasts(offers: Sequence[Offer], result: tuple[int, ...]) -> bool:
    """Whether the op is plain broadcasting of its operands, and one at home on blocks has all the channels."""
    for o in offers:
        shape = (1,) * (4 - len(o.info.shape)) + o.info.shape
        if not all(is_always(e, 1) or surely_equal(e, whole) for e, whole in zip(shape, result, strict=True)):
            return False
        # One channel on a block is a lane and padding, which would not broadcast.
        if o.blocked and o.info.shape[1] != result[1]:
            return False
    return any(o.blocked and o.info.shape[1] == result[1] for o in offers)
