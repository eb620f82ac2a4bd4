"""Quantised tensors as data: integers with what they stand for, and the weights that an operator has packed.

An integer q stands for scale * (q - zero_point).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

QDTYPES = {12: "int8", 13: "uint8", 14: "int32"}
"""Element types of quantised tensors (qint8, quint8, qint32) by the numbers of c10::ScalarType."""


@dataclass(frozen=True, eq=False)
class Quantization:
    """The meaning of integers: one scale and zero point, or one for each place along `axis`."""

    scale: NDArray[Any]
    """float64, of rank 0, or of rank 1 along `axis`."""
    zero_point: NDArray[Any]
    """int64, as many as there are scales."""
    axis: int | None = None

    @staticmethod
    def of(scale: Any, zero_point: Any, axis: int | None = None) -> Quantization:
        """From numbers, or from lists of them along an axis. Raises ValueError for scales that are none."""
        scales, zeros = np.asarray(scale, np.float64), np.asarray(zero_point, np.int64)
        if scales.shape != zeros.shape or scales.ndim != (axis is not None):
            raise ValueError(f"scales of shape {scales.shape} with zero points of shape {zeros.shape}")
        with np.errstate(over="ignore", under="ignore"):
            narrow = scales.astype(np.float32)
        if not (np.isfinite(narrow) & (narrow > 0)).all():
            raise ValueError("a scale is no float32 above zero")
        if (abs(zeros) >= 2**31).any():
            raise ValueError("a zero point does not fit 32 bits")
        return Quantization(scales, zeros, axis)

    @property
    def is_per_axis(self) -> bool:
        """Whether there is a scale for each place along an axis."""
        return self.axis is not None

    def same_as(self, other: Quantization) -> bool:
        """Whether integers mean the same by both."""
        pairs = (self.scale, other.scale), (self.zero_point, other.zero_point)
        return self.axis == other.axis and all(np.array_equal(a, b) for a, b in pairs)


@dataclass(frozen=True, eq=False)
class QuantizedArray:
    """A quantised tensor of a file."""

    array: NDArray[Any]
    quantization: Quantization

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> str:
        return str(self.array.dtype)


@dataclass(frozen=True, eq=False)
class PackedWeights:
    """Weights that an operator of quantised tensors has packed: a weight, a bias, and the windows of a convolution.

    The weight and the bias are arrays of a file, references to them in a graph, values where a graph is imported.
    """

    kind: str
    """`linear`, `linear_fp16`, `conv` or `conv_transpose`."""
    weight: Any
    """[units, features], or [out, in / groups, ...], of a transposed convolution [in, out / groups, ...]."""
    bias: Any = None
    """Floats, or None."""
    stride: tuple[int, ...] = ()
    padding: tuple[int, ...] = ()
    dilation: tuple[int, ...] = ()
    output_padding: tuple[int, ...] = ()
    groups: int = 1

    def mapped(self, change: Callable[[Any], Any]) -> PackedWeights:
        """The same with other tensors."""
        return replace(self, weight=change(self.weight), bias=change(self.bias))

    @property
    def parts(self) -> list[Any]:
        return [self.weight, self.bias]


@dataclass(frozen=True, eq=False)
class PackedCell:
    """Weights of one layer of a recurrent network, whose data are quantised as they come."""

    of_input: PackedWeights
    """[gates * hidden, features]."""
    of_state: PackedWeights
    """[gates * hidden, hidden]."""
    reduce_range: bool
    """Whether data have seven bits."""

    def mapped(self, change: Callable[[Any], Any]) -> PackedCell:
        """The same with other tensors."""
        return replace(self, of_input=self.of_input.mapped(change), of_state=self.of_state.mapped(change))

    @property
    def parts(self) -> list[Any]:
        return [*self.of_input.parts, *self.of_state.parts]
