"""Draws of the variables of rules, where the samples of ops do not lead to a match: `.drawing(...)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamina.dialects.infos import TensorInfo


def one_of(*values: Any) -> Callable[[Any], Any]:
    """Draws one of several values, or always the only one."""

    def draw(rng: Any) -> Any:
        return values[rng.integers(len(values))]

    return draw


def tensor(*shape: int, dtype: str = "float64") -> Callable[[Any], TensorInfo]:
    """Draws a tensor of this shape; float32 is drawn as float64."""
    return one_of(TensorInfo(shape, dtype))
