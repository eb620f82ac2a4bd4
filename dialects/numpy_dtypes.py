"""Element types by numpy's names, for what holds arrays and no IR; `dtypes.py` relates them to MLIR's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np


@cache
def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """The numpy dtype, bfloat16 through ml_dtypes."""
    import numpy as np

    if dtype == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype)


def largest(dtype: str) -> float:
    """The largest finite number of a float type."""
    import ml_dtypes

    return float(cast("Any", ml_dtypes.finfo(numpy_dtype(dtype))).max)
