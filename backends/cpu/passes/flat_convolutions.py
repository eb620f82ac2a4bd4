"""cpu-flat-convolutions: convolutions of sequences and volumes, and transposed ones, as convolutions of images.

Before:
    %y = relay.nn.conv1d %x, %w {padding = [1, 1]} : (tensor<1x8x32xf32>, tensor<16x8x3xf32>) -> tensor<1x16x32xf32>
After (%w a constant):
    %0 = relay.reshape %x {newshape = [1, 8, 1, 32]} : tensor<1x8x32xf32> -> tensor<1x8x1x32xf32>
    %1 = relay.constant dense<...> : tensor<16x8x1x3xf32>
    %2 = relay.nn.conv2d %0, %1 {padding = [0, 1, 0, 1], ...} : ... -> tensor<1x16x1x32xf32>
    %y = relay.reshape %2 {newshape = [1, 16, 32]} : tensor<1x16x1x32xf32> -> tensor<1x16x32xf32>

Images have channel blocks, register tiles and Winograd. The slices of a volume that a step in depth reads are so many
more channels of an image, and the steps a batch. A transposed convolution with stride s writes s x s pixels for each
window: it is an ordinary one with so many times the channels, the weight's taps s apart in each, put beside each other.
Where s does not divide the kernel's size, each of the s x s pixels is a convolution of its own, with the taps it has.
Images lose the outer taps of windows, if these meet nothing but padding.

Only float32 with constant weights in the plain layouts, one group (sequences: any number), no dilation of transposed
ones; where the taps that are added as zeros to make windows whole would be most of the work, nothing changes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import Costs, for_target
from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import constant_value
from lamina.dialects.relay.functional.annotations import StopFusionOp
from lamina.dialects.relay.grad.facet import dtype_of, r, shape_of
from lamina.dialects.relay.nn.conv import Conv2dOp
from lamina.dialects.relay.params import store_of
from lamina.dialects.relay.windows import pairs, per_axis, windows
from lamina.dialects.rules.terms import term
from lamina.dialects.target import module_target
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.fold.fold_constant import fold_ops
from lamina.passes.relay.layout.form_replacement import legalize
from lamina.passes.relay.layout.legal_forms import Form

stop_fusion = term(StopFusionOp)


@dataclass(frozen=True)
class FlatConvolutions(ModulePass):
    """Convolutions of sequences and volumes, and transposed ones, as convolutions of images."""

    name = "cpu-flat-convolutions"
    opt_level: ClassVar[int] = 3
    exact: bool = False
    """No taps that are zeros: beside an infinity these make NaN, in results that the model keeps apart from it."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        costs = for_target(module_target(op))
        forms = FORMS | {"relay.nn.conv2d_transpose": transposed(costs, self.exact)}
        for each in [o for o in op.walk() if o.name in forms and isinstance(o, RelayOp)]:
            x, w = each.operands
            known = not has_unknown_extents([*each.operand_types, *each.result_types])
            if known and constant_value(w) is not None and {dtype_of(x), dtype_of(w)} == {"float32"}:
                legalize(each, [forms[each.name]], store_of(ctx))
        for each in [o for o in op.walk() if isinstance(o, Conv2dOp)]:
            if not has_unknown_extents([*each.operand_types, *each.result_types]):
                legalize(each, [without_idle_taps], store_of(ctx))
        # Taps that are added as zeros may be many, but less than there are taps.
        fold_ops([o for o in op.walk() if o.name == "relay.nn.pad"], store_of(ctx), sys.maxsize)


def is_plain(attrs: dict[str, Any], data: str, kernel: str) -> bool:
    """Whether a convolution has the layouts named, and gives floats as it takes them."""
    layouts = attrs["data_layout"] == data and attrs["kernel_layout"] == kernel
    return layouts and attrs["out_layout"] in ("", data) and not attrs["out_dtype"]


def sequence(inputs: Sequence[SSAValue], **attrs: Any) -> SSAValue | None:
    """A sequence is an image of one row."""
    x, w = inputs
    if not is_plain(attrs, "NCW", "OIW"):
        return None
    (n, c, width), (o, i, k) = shape_of(x), shape_of(w)
    (before,), (after,) = pairs(attrs["padding"], 1)
    (stride,), (dilation,) = per_axis(attrs["strides"], 1, "strides"), per_axis(attrs["dilation"], 1, "dilation")
    image, weight = r.reshape(x, newshape=(n, c, 1, width)), r.reshape(w, newshape=(o, i, 1, k))
    found = r.nn.conv2d(
        image, weight, strides=(1, stride), padding=(0, before, 0, after), dilation=(1, dilation),
        groups=attrs["groups"], channels=o, kernel_size=(1, k),
    )  # fmt: skip
    return r.reshape(found, newshape=(n, o, shape_of(found)[3]))


def volume(inputs: Sequence[SSAValue], **attrs: Any) -> SSAValue | None:
    """The slices that a step in depth reads are the channels of an image, the steps a batch."""
    x, w = inputs
    if not is_plain(attrs, "NCDHW", "OIDHW") or attrs["groups"] != 1:
        return None
    (n, c, depth, height, width), (o, _, kd, kh, kw) = shape_of(x), shape_of(w)
    (front, top, left), (back, bottom, right) = pairs(attrs["padding"], 3)
    strides, dilation = per_axis(attrs["strides"], 3, "strides"), per_axis(attrs["dilation"], 3, "dilation")
    steps = (depth + front + back - dilation[0] * (kd - 1) - 1) // strides[0] + 1
    if front or back:
        x = r.nn.pad(x, pad_width=(0, 0, 0, 0, front, back, 0, 0, 0, 0))
    parts: list[SSAValue] = []
    for tap in range(kd):
        first = tap * dilation[0]
        end = first + (steps - 1) * strides[0] + 1
        parts.append(
            r.strided_slice(x, begin=(first,), end=(end,), strides=(strides[0],), axes=(2,))
            if (first, end, strides[0]) != (0, shape_of(x)[2], 1)
            else x
        )
    slices = parts[0] if kd == 1 else r.concatenate(*parts, axis=1)
    images = r.reshape(r.transpose(slices, axes=(0, 2, 1, 3, 4)), newshape=(n * steps, kd * c, height, width))
    weight = r.reshape(r.transpose(w, axes=(0, 2, 1, 3, 4)), newshape=(o, kd * c, kh, kw))
    found = r.nn.conv2d(
        images, weight, strides=strides[1:], padding=(top, left, bottom, right), dilation=dilation[1:],
        channels=o, kernel_size=(kh, kw),
    )  # fmt: skip
    rows, columns = shape_of(found)[2:]
    return r.transpose(r.reshape(found, newshape=(n, steps, o, rows, columns)), axes=(0, 2, 1, 3, 4))


def transposed(costs: Costs, exact: bool) -> Form:
    """Each window gives s x s pixels: so many times the channels, put beside each other, and the padding cut off.

    With `exact` it has the taps that there are.
    """

    def transposed_windows(inputs: Sequence[SSAValue], **attrs: Any) -> SSAValue | None:
        return _transposed(inputs, attrs, 1.0 if exact else costs.most_zeros, costs)

    return transposed_windows


def _transposed(inputs: Sequence[SSAValue], attrs: dict[str, Any], most: float, costs: Costs) -> SSAValue | None:
    """A transposed convolution with at most so many times the taps that it has."""
    x, w = inputs
    if not is_plain(attrs, "NCHW", "IOHW") or attrs["groups"] != 1:
        return None
    strides = per_axis(attrs["strides"], 2, "strides")
    (_, _, *size), (c, o, *kernel) = shape_of(x), shape_of(w)
    s = strides[0]
    if set(strides) != {s} or tuple(per_axis(attrs["dilation"], 2, "dilation")) != (1, 1):
        return None
    before, out = _extents(size, kernel, s, attrs)
    reread = most > 1 and o < costs.few_channels and 4 * c * size[0] * size[1] > costs.figures.l2_bytes
    if s == 1 or zeros_of(kernel, s) > min(costs.few_zeros, most) and not reread:
        axes = [_phases(*each, s) for each in zip(size, kernel, before, out, strict=True)]
        found = _by_phases(x, w, axes[0], axes[1], out)
        if found is not None:
            return found
    return whole_windows(x, w, attrs, r.nn.conv2d, most)


def zeros_of(kernel: Sequence[int], stride: int) -> float:
    """The ratio of the taps of whole windows to those of a transposed convolution."""
    return prod(-(-k // stride) * stride / k for k in kernel)


def _extents(size: Sequence[int], kernel: Sequence[int], stride: int, attrs: dict[str, Any]) -> tuple[Any, list[int]]:
    """The padding before, and the extents of the result."""
    before, after = pairs(attrs["padding"], 2)
    more = per_axis(attrs["output_padding"], 2, "output_padding", 0)
    return before, [(size[d] - 1) * stride + kernel[d] - before[d] - after[d] + more[d] for d in range(2)]


def whole_windows(
    x: SSAValue, w: SSAValue, attrs: dict[str, Any], convolve: Callable[..., Any], most: float, zero: int = 0
) -> SSAValue | None:
    """A transposed convolution by one of windows that each give s x s pixels; missing taps are `zero`.

    None where these are too many, and for what has dilation or two strides.
    """
    strides = per_axis(attrs["strides"], 2, "strides")
    (_, _, *size), (c, o, *kernel) = shape_of(x), shape_of(w)
    s = strides[0]
    if set(strides) != {s} or tuple(per_axis(attrs["dilation"], 2, "dilation")) != (1, 1):
        return None
    taps = [-(-k // s) for k in kernel]
    before, out = _extents(size, kernel, s, attrs)
    if zeros_of(kernel, s) > most or any(before[d] + out[d] > (size[d] + taps[d] - 1) * s for d in range(2)):
        return None
    if [t * s for t in taps] != list(kernel):
        width = (0, 0, 0, 0, 0, taps[0] * s - kernel[0], 0, taps[1] * s - kernel[1])
        w = r.nn.pad(w, pad_width=width, pad_value=float(zero))
    # The tap that meets the last pixel comes first.
    parts = r.reverse(r.reverse(r.reshape(w, newshape=(c, o, taps[0], s, taps[1], s)), axis=2), axis=4)
    weight = r.reshape(r.transpose(parts, axes=(3, 5, 1, 0, 2, 4)), newshape=(s * s * o, c, *taps))
    far = [t - 1 for t in taps]
    pixels = convolve(x, weight, padding=(*far, *far), channels=s * s * o, kernel_size=tuple(taps))
    whole = r.nn.depth_to_space(pixels, block_size=s, mode="DCR") if s > 1 else pixels
    return _cut(whole, before, out)


class Phase(NamedTuple):
    """Every s-th element of an axis of a transposed convolution's result, as those of an ordinary one.

    Element a + s v of it meets input v + q - j by tap t + s j, where t + s q = a + the padding.
    """

    first: int
    """t."""
    taps: int
    before: int
    """Zeros before the input and behind it, where v goes up to that of all phases."""
    after: int


def _phases(size: int, kernel: int, before: int, out: int, stride: int) -> list[Phase]:
    """The phases of an axis, from element 0 on."""
    found: list[Phase] = []
    for a in range(stride):
        q, first = divmod(a + before, stride)
        taps = -(-(kernel - first) // stride)
        found.append(Phase(first, taps, taps - 1 - q, -(-out // stride) - 1 + q - (size - 1)))
    return found


def _by_phases(
    x: SSAValue, w: SSAValue, rows: Sequence[Phase], columns: Sequence[Phase], out: Sequence[int]
) -> SSAValue | None:
    """A convolution of its own for each phase of rows and columns: no tap is zero. None where one has none at all."""
    if any(phase.taps < 1 or min(phase.before, phase.after) < 0 for phase in (*rows, *columns)):
        return None
    s, channels = len(rows), shape_of(w)[1]
    parts: list[SSAValue] = []
    for v in rows:
        for h in columns:
            taps = w
            if s > 1:
                far = tuple(p.first + s * (p.taps - 1) + 1 for p in (v, h))
                taps = r.strided_slice(w, begin=(v.first, h.first), end=far, strides=(s, s), axes=(2, 3))
            # The tap that meets the last pixel comes first.
            taps = r.transpose(r.reverse(r.reverse(taps, axis=2), axis=3), axes=(1, 0, 2, 3))
            padding = (v.before, h.before, v.after, h.after)
            size = (v.taps, h.taps)
            parts.append(r.nn.conv2d(x, taps, padding=padding, channels=channels, kernel_size=size))
    if s == 1:
        return parts[0]
    # Pixels that are put beside each other are read from one tensor, not each from the one that has it.
    joined = stop_fusion(r.concatenate(*[stop_fusion(p) for p in parts], axis=1))
    return _cut(r.nn.depth_to_space(joined, block_size=s, mode="DCR"), (0, 0), out)


def _cut(whole: SSAValue, before: Sequence[int], out: Sequence[int]) -> SSAValue:
    """The pixels of a result that are wanted."""
    if tuple(before) == (0, 0) and tuple(out) == tuple(shape_of(whole)[2:]):
        return whole
    end = tuple(b + e for b, e in zip(before, out, strict=True))
    return r.strided_slice(whole, begin=tuple(before), end=end, axes=(2, 3))


def without_idle_taps(inputs: Sequence[SSAValue], **attrs: Any) -> SSAValue | None:
    """Rows and columns at the ends of a window that meet nothing but padding are no part of it."""
    x, w = inputs
    if constant_value(w) is None or attrs["data_layout"] != "NCHW" or attrs["kernel_layout"] != "OIHW":
        return None
    strides, dilation = per_axis(attrs["strides"], 2, "strides"), per_axis(attrs["dilation"], 2, "dilation")
    begin, end = [0, 0], list(shape_of(w)[2:])
    before, after = (list(side) for side in pairs(attrs["padding"], 2))
    for d, slide in enumerate(windows(shape_of(x)[2:], end, strides, dilation, attrs["padding"])):
        rows = [y * strides[d] - before[d] for y in range(slide.outputs())]
        size, spread = shape_of(x)[2 + d], dilation[d]
        meets = [t for t in range(end[d]) if any(0 <= row + t * spread < size for row in rows)]
        if not meets:
            return None
        begin[d] = min(meets[0], before[d] // spread)
        kept = end[d] - min(end[d] - 1 - meets[-1], after[d] // spread)
        before[d] -= begin[d] * spread
        after[d] -= (end[d] - kept) * spread
        end[d] = kept
    if (*begin, *end) == (0, 0, *shape_of(w)[2:]):
        return None
    kernel = r.strided_slice(w, begin=tuple(begin), end=tuple(end), axes=(2, 3))
    size = tuple(e - b for b, e in zip(begin, end, strict=True))
    return r.nn.conv2d(x, kernel, **attrs | {"padding": (*before, *after), "kernel_size": size})


FORMS: dict[str, Form] = {
    "relay.nn.conv1d": sequence,
    "relay.nn.conv3d": volume,
}
