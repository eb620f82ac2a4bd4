"""Windows that slide over an axis: what convolution and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any, NamedTuple

from lamina.dialects.relay.declare import *

# Larger geometry than this cannot be meant, and its products would leave the range of an index.
LARGEST = 1 << 31


class Window(NamedTuple):
    """One spatial axis: `extent` input positions, padded on both sides, `size` taps `dilation` apart."""

    extent: int
    size: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def reach(self) -> int:
        """Input positions from the first tap to the last, both included."""
        return (self.size - 1) * self.dilation + 1

    @property
    def padded(self) -> int:
        return self.before + self.extent + self.after

    def outputs(self, ceil_mode: bool = False) -> int:
        """Number of windows. In ceil mode the last may stick out, if it starts inside the input or before it."""
        room = self.padded - self.reach
        if not ceil_mode:
            return room // self.stride + 1
        count = -(-room // self.stride) + 1
        return count - 1 if (count - 1) * self.stride >= self.extent + self.before else count

    def on_data(self) -> Window:
        """The same windows without the taps that lie behind the data in every one of them, the first as well."""
        reached = -(-(self.before + self.extent) // self.dilation)
        # Of sizes that are not known the taps on padding count as well.
        return self if is_symbolic(reached) else self._replace(size=max(1, min(self.size, reached)))


class Spread(NamedTuple):
    """One spatial axis of a transposed convolution: `extent` input elements, `stride` outputs apart, each spread over
    `taps` by the kernel, `more` outputs at the end."""

    extent: int
    taps: int
    stride: int
    dilation: int
    before: int
    after: int
    more: int

    @property
    def spread(self) -> int:
        """Outputs that the data reaches, before padding is cut off."""
        return (self.extent - 1) * self.stride + (self.taps - 1) * self.dilation + 1

    @property
    def outputs(self) -> int:
        return self.spread - self.before - self.after + self.more

    # -- output place y as a phase p < stride and a quotient q: y = stride*q + p ----------------------

    @property
    def common(self) -> int:
        """Only every so many phases have taps."""
        return gcd(self.stride, self.dilation)

    @property
    def step(self) -> int:
        """From one tap of a phase to its next."""
        return self.stride // self.common

    @property
    def phase_taps(self) -> int:
        """The most taps of a phase."""
        return -(-self.taps // self.step)

    @property
    def quotients(self) -> int:
        return -(-self.outputs // self.stride)

    def remainder(self, p: Any) -> Any:
        """The remainder of tap*dilation for the taps of phase p, modulo the stride."""
        return (p + self.before) % self.stride

    def first_tap(self, p: Any) -> Any:
        """The first tap of phase p: the least one with that remainder."""
        inverse = pow(self.dilation // self.common, -1, self.step) if self.step > 1 else 0
        return self.remainder(p) // self.common * inverse % self.step

    def place(self, p: Any, q: Any, t: Any) -> Any:
        """The input element that tap number t of phase p meets at q; it may lie outside the data."""
        offset = (p + self.before - self.first_tap(p) * self.dilation) // self.stride
        return q + offset - t * (self.dilation // self.common)

    @property
    def padding(self) -> tuple[int, int]:
        """Zeros before and after the data, so that every place lies inside."""
        phases = range(self.stride)
        low = min(self.place(p, 0, self.phase_taps - 1) for p in phases)
        high = max(self.place(p, self.quotients - 1, 0) for p in phases)
        return max(0, -low), max(0, high - (self.extent - 1))


def pairs(padding: Sequence[int], rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(before, after) of TVM's padding list: one number, one an axis, or all befores and then all afters."""
    if len(padding) == 1:
        return (padding[0],) * rank, (padding[0],) * rank
    if len(padding) == rank:
        return tuple(padding), tuple(padding)
    if len(padding) == 2 * rank:
        return tuple(padding[:rank]), tuple(padding[rank:])
    raise TypeMismatch(f"padding has {len(padding)} numbers, expects {rank} or {2 * rank}")


def per_axis(values: Sequence[int], rank: int, what: str, least: int = 1) -> tuple[int, ...]:
    """A list of one number an axis (one number stands for all). Raises TypeMismatch naming `what`."""
    if len(values) == 1:
        values = tuple(values) * rank
    if len(values) != rank:
        raise TypeMismatch(f"{what} has {len(values)} numbers, expects {rank}")
    for v in values:
        if not least <= v < LARGEST:
            raise TypeMismatch(f"{what} {v} is out of range, it must be at least {least}")
    return tuple(values)


def windows(
    spatial: Sequence[int],
    size: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool = False,
) -> tuple[Window, ...]:
    """The window of each spatial axis. Raises TypeMismatch when a number is out of range or a window does not fit: in
    ceil mode none does that begins in the data and ends behind it."""
    rank = len(spatial)
    size = per_axis(size, rank, "kernel size")
    strides = per_axis(strides, rank, "stride")
    dilation = per_axis(dilation, rank, "dilation")
    before, after = pairs(padding, rank)
    per_axis(before + after, 2 * rank, "padding", 0)
    result = tuple(Window(*w) for w in zip(spatial, size, strides, dilation, before, after, strict=True))
    for w in result:
        if w.outputs(ceil_mode) < 1:
            raise TypeMismatch(f"kernel of {w.reach} does not fit into the padded input of {w.padded}")
    return result


def gather(
    x: NDArray[Any], axes: Sequence[int], slides: Sequence[Window], outs: Sequence[int], value: Any
) -> NDArray[Any]:
    """Numpy reference: every tap of every window, the taps' axes appended at the end. For np_ref only."""
    widths = [(0, 0)] * x.ndim
    for axis, w, out in zip(axes, slides, outs, strict=True):
        missing = max(0, (out - 1) * w.stride + w.reach - w.before - w.extent)
        widths[axis] = (w.before, missing)
    x = np.pad(x, widths, constant_values=value)
    for axis, w, out in zip(axes, slides, outs, strict=True):
        position = np.arange(out)[:, None] * w.stride + np.arange(w.size)[None, :] * w.dilation
        x = np.moveaxis(np.take(x, position, axis=axis), axis + 1, -1)
    return x
