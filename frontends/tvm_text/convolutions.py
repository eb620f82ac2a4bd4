"""Convolutions as TVM writes them where the operators of our IR are others: blocks, and several kernels for a channel.

- nn.conv2d in the layouts NCHW16c and OIHW16i16o is nn.contrib_conv2d_NCHWc, OIHW1i16o the depthwise one;
- the weight of a depthwise convolution with `m` kernels for each of C channels is [C, m, KH, KW] in TVM, where each
  group has `m` results of one channel: [C * m, 1, KH, KW] here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.relay.layout import block_of, extents, parse_layout, stored_shape

SPELLED_OTHERWISE = frozenset(("nn.conv2d", "qnn.conv2d"))
"""Operators whose weights may have several kernels for each channel, or whose layouts may be of blocks."""

_BLOCKED = "nn.contrib_conv2d_NCHWc"
_BLOCKED_DEPTHWISE = "nn.contrib_depthwise_conv2d_NCHWc"


def on_blocks(name: str, attrs: Mapping[str, Any]) -> str:
    """The operator that a call of an operator is by its layouts."""
    data_layout, kernel_layout = (str(attrs.get(k) or "") for k in ("data_layout", "kernel_layout"))
    if name != "nn.conv2d" or not (_is_blocked(data_layout) or _is_blocked(kernel_layout)):
        return name
    depthwise = int(attrs.get("groups") or 1) > 1 and block_of(kernel_layout, "I") == 1 and _is_blocked(data_layout)
    return _BLOCKED_DEPTHWISE if depthwise else _BLOCKED


def _is_blocked(layout: str) -> bool:
    return any(c.isdigit() for c in layout)


def complete(attrs: dict[str, Any], infos: Sequence[TensorInfo]) -> None:
    """Say the output's layout and the number of channels, which operators on blocks have to know."""
    if len(infos) < 2:
        return
    if not attrs.get("out_layout") and attrs.get("data_layout"):
        attrs["out_layout"] = attrs["data_layout"]
    if not attrs.get("channels") and attrs.get("kernel_layout"):
        attrs["channels"] = extents(attrs["kernel_layout"], infos[1].shape)["O"]


def kernels_apart(
    data: TensorInfo, weight: TensorInfo, attrs: Mapping[str, Any]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The permutation, then the shape, that give a weight of several kernels per channel one for each result.

    None where it has one already.
    """
    layout, groups = attrs.get("kernel_layout") or "OIHW", int(attrs.get("groups") or 1)
    try:
        channels = extents(attrs.get("data_layout") or "NCHW", data.shape)["C"]
        sizes = extents(layout, weight.shape)
    except (TypeMismatch, KeyError):
        return None  # said by the operator itself
    per_channel = sizes.get("I", 1)
    if groups == 1 or groups != channels or sizes.get("O") != groups or per_channel == 1 or _is_blocked(layout):
        return None
    if attrs.get("channels") and int(attrs["channels"]) != groups * per_channel:
        return None
    letters = [a.letter for a in parse_layout(layout)]
    order = [c for c in letters if c != "I"]
    order.insert(order.index("O") + 1, "I")
    merged = {**sizes, "O": groups * per_channel, "I": 1}
    return tuple(map(letters.index, order)), tuple(merged[c] for c in letters)


def weight_shape(transposed: bool, default: str, data: tuple[int, ...], attrs: Mapping[str, Any]) -> Any:
    """The shape that the weight of a convolution has to have; None where channels or kernel_size do not say it."""
    channels, kernel = attrs.get("channels"), attrs.get("kernel_size")
    if not channels or not kernel:
        return None
    data_layout = attrs.get("data_layout") or {3: "NCW", 4: "NCHW", 5: "NCDHW"}[len(data)]
    layout: str = attrs.get("kernel_layout") or default
    groups = attrs.get("groups") or 1
    taken = extents(data_layout, data)["C"]
    sizes = dict(zip("DHW"[-len(kernel) :], kernel, strict=True))
    sizes |= {"O": channels // groups, "I": taken} if transposed else {"O": channels, "I": taken // groups}
    known = all(a.letter.upper() in sizes for a in parse_layout(layout))
    return stored_shape(layout, sizes) if known else None


__all__ = ["SPELLED_OTHERWISE", "complete", "kernels_apart", "on_blocks", "weight_shape"]
