"""Padding of windows such that there is a result for each stride: `SAME` of TensorFlow, `auto_pad` of ONNX."""

from __future__ import annotations

from collections.abc import Sequence


def same_padding(
    extents: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], upper: bool = True
) -> list[int]:
    """The elements added before each axis, then those behind each; strides are at least 1.

    An axis of `e` elements gets ceil(e / stride) results. Where their number is odd, there is one more behind, or with
    `upper` False before.
    """
    totals: list[int] = []
    for extent, size, stride, dilation in zip(extents, kernel, strides, dilations, strict=True):
        reach = (size - 1) * dilation + 1
        totals.append(max(0, (-(-extent // stride) - 1) * stride + reach - extent))
    return halves(totals, upper)


def halves(totals: Sequence[int], upper: bool = True) -> list[int]:
    """Numbers of elements split in two, all befores and then all afters; the odd one is behind where `upper`."""
    small, large = [t // 2 for t in totals], [t - t // 2 for t in totals]
    return small + large if upper else large + small
