"""Checks and reductions, as all interpreters run them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import BFloat16Type
from xdsl.ir import Operation

from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.dialects.scalar.oracles import Value, as_unsigned, signless
from lamina.errors import InputError

# -- checks ----------------------------------------------------------------------------------------


class CheckFailure(InputError):
    """A check of the program failed while it ran."""


def check(op: Operation, value: Value, condition: Value) -> Value:
    """The value. Raises CheckFailure where the condition fails."""
    if not np.all(condition):
        raise CheckFailure(cast(Any, op.properties["message"]).data, op=op)
    return value


# -- reductions ------------------------------------------------------------------------------------

_REDUCERS: dict[str, tuple[Any, Any]] = {
    "sum": (np.add, np.logical_xor),
    "prod": (np.multiply, np.logical_and),
    "max": (np.maximum, np.logical_or),
    "min": (np.minimum, np.logical_and),
}


def reduce(combiner: str, array: Value, axes: tuple[int, ...], unsigned: bool) -> Value:
    """`array` reduced over the axes by sum, prod, max or min, in its own dtype."""
    dtype = array.dtype
    on_numbers, on_bool = _REDUCERS[combiner]
    ufunc = on_bool if dtype.kind == "b" else on_numbers
    if unsigned:
        return signless(np.asarray(ufunc.reduce(as_unsigned(array), axis=axes, initial=start(combiner, dtype, True))))
    wide = array.astype(np.float32) if dtype == numpy_dtype(dtype_name(BFloat16Type())) else array
    result = wide
    with np.errstate(all="ignore"):
        for axis in sorted(axes, reverse=True):
            result = ufunc.reduce(result, axis=axis, initial=start(combiner, wide.dtype, False), dtype=wide.dtype)
    return np.asarray(result).astype(dtype, copy=False)


def start(combiner: str, dtype: np.dtype[Any], unsigned: bool) -> Any:
    """The value of a reduction over nothing."""
    if combiner in ("sum", "prod"):
        return dtype.type(combiner == "prod")
    lowest = combiner == "max"
    if dtype.kind == "b":
        return not lowest
    if dtype.kind == "f":
        return dtype.type(-np.inf if lowest else np.inf)
    if unsigned:
        limits = np.iinfo(np.dtype(f"u{dtype.itemsize}"))
        return limits.dtype.type(limits.min if lowest else limits.max)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if lowest else limits.max)
