"""What `te_compute` facets are written with: the builder's names and the equations that several ops share."""

# ruff: noqa: F403, F405
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.dialects.te.build import *
from lamina.dialects.te.build import Index, Tensor, all, compute, const, if_then_else


def broadcast_index(tensor: Tensor, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The indices at which a tensor is read when it is broadcast to the rank of `indices`."""
    aligned = indices[len(indices) - tensor.ndim :]
    return tuple(0 if extent == 1 else i for extent, i in zip(tensor.shape, aligned, strict=True))


def pad(x: Tensor, before: Sequence[int], after: Sequence[int], value: float = 0.0, name: str = "pad") -> Tensor:
    """`x` with `value` around it; the tensor itself where nothing is added."""
    if not [p for p in (*before, *after) if p]:
        return x
    shape = [b + e + a for b, e, a in zip(before, x.shape, after, strict=True)]

    def element(*i: Index) -> Any:
        inner = [p - b for p, b in zip(i, before, strict=True)]
        inside = [c for p, e in zip(inner, x.shape, strict=True) for c in (p >= 0, p < e)]
        return if_then_else(all(*inside), x[tuple(inner)], const(value, x.dtype))

    return compute(shape, element, name)
