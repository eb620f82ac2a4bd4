"""Quantised tensors that tests of operators draw."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from litert import check
from tflite_build import T

LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "int32": (-(2**31), 2**31 - 1)}


def q(shape: Sequence[int], scale: Any, zero_point: int = 0, dtype: str = "int8") -> T:
    """Data of the run."""
    return T(tuple(shape), dtype, scale=scale, zero_point=zero_point)


def integers(shape: Sequence[int], dtype: str = "int8", seed: int = 0, low: int | None = None) -> Any:
    """Integers over the whole range of a type; its ends are among them where there is room."""
    least, most = LIMITS[dtype]
    found = np.random.default_rng(seed).integers(least if low is None else low, most + 1, shape).astype(dtype)
    if found.size > 2:
        found.reshape(-1)[:2] = (found.min() if low is not None else least), most
    return found


def weight(shape: Sequence[int], scale: Any, axis: int = 0, dtype: str = "int8", seed: int = 7, zero: int = 0) -> T:
    """A constant with one scale, or one for each place on an axis."""
    low = None if dtype == "uint8" else -127
    return T.of(integers(shape, dtype, seed, low), scale=scale, axis=axis, zero_point=zero)


def channel_scales(count: int, most: float = 0.01) -> Any:
    """Scales of channels, over two orders of magnitude."""
    return np.random.default_rng(3).uniform(0.01, 1, count).astype(np.float32) * np.float32(most)


def bias(count: int, scale: Any, dtype: str = "int32", size: int = 5000) -> T:
    """A constant of whole numbers of the sums' scale."""
    values = np.random.default_rng(5).integers(-size, size + 1, count).astype(dtype)
    return T(values.shape, dtype, values, scale=np.asarray(scale, np.float32))


def check_whole(data: bytes, *inputs: T, seed: int = 11) -> None:
    """Our results are LiteRT's to the bit, for integers over the whole range of the inputs' types."""
    check(data, [integers(t.shape, t.dtype, seed + k) for k, t in enumerate(inputs)])
