"""Products of tensors for the oracles of ops, as IEEE arithmetic has them.

BLAS libraries leave out factors of zero, whose product with an infinity is NaN: which ones depends on the library, the
processor and the shape. What holds an infinity or NaN is therefore multiplied and added element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lamina.dialects.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def matmul(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The product of stacks of matrices, [..., I, K] and [..., K, J] -> [..., I, J]; either may be a vector [K]."""
    if _finite(a, b) or min(a.ndim, b.ndim) < 2:
        return np.matmul(a, b)
    return np.einsum("...ik,...kj->...ij", a, b, optimize=False)


def tensordot(a: NDArray[Any], b: NDArray[Any], axes: tuple[Sequence[int], Sequence[int]]) -> NDArray[Any]:
    """The sum of products over pairs of axes, one of `a` and one of `b`; what is left are those of `a`, then of `b`."""
    if _finite(a, b):
        return np.tensordot(a, b, axes)
    left, right = list(range(a.ndim)), [a.ndim + n for n in range(b.ndim)]
    for i, j in zip(*axes, strict=True):
        right[j] = left[i]
    kept = [n for n in left if n not in axes[0]] + [n for n in right if n >= a.ndim]
    return np.einsum(a, left, b, right, kept, optimize=False)


def _finite(a: NDArray[Any], b: NDArray[Any]) -> bool:
    # Arrays that are not NumPy's (NEP 18) have products of their own, and perhaps no values yet.
    if type(a) is not np.ndarray or type(b) is not np.ndarray:
        return True
    return bool(np.isfinite(a).all() and np.isfinite(b).all())
