"""The types of operations of keras.ops: what two operands become, as Keras's rules have it."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.frontends.builder import Value
from lamina.frontends.network import NodeBuilder


def tensor(b: NodeBuilder, x: Any, like: Value | None = None) -> Value:
    """An operand as a tensor: a number has the type of the other operand, where that can hold it."""
    if isinstance(x, Value):
        return x
    if isinstance(x, np.ndarray):
        return b.constant(x)
    if isinstance(x, (list, tuple)):
        array = np.asarray(cast("Any", x))
        return b.constant(array.astype("float32" if array.dtype.kind == "f" else "int32"))
    if isinstance(x, bool):
        return b.constant(np.asarray(x))
    if isinstance(x, int):
        return b.tensor(x, like.dtype if like is not None and like.dtype != "bool" else "int32")
    if isinstance(x, float):
        return b.tensor(x, like.dtype if like is not None and is_float(like.dtype) else "float32")
    raise b.unsupported(f"an operand is {type(x).__name__}, no tensor or number")


def both(b: NodeBuilder, x: Any, y: Any) -> tuple[Value, Value]:
    """Two operands in the type that an operation on them has."""
    first = tensor(b, x, y if isinstance(y, Value) else None)
    second = tensor(b, y, first)
    dtype = common(first.dtype, second.dtype)
    return b.cast(first, dtype), b.cast(second, dtype)


def common(x: str, y: str) -> str:
    """The type of an operation on two types: floats before integers, wider before narrower."""
    if x == y:
        return x
    floats = [t for t in (x, y) if is_float(t)]
    if len(floats) == 1:
        return floats[0]
    if floats:
        if {x, y} == {"float16", "bfloat16"}:
            return "float32"
        return max(x, y, key=lambda t: 16 if t == "bfloat16" else np.dtype(t).itemsize * 8)
    if "bool" in (x, y):
        return y if x == "bool" else x
    return str(np.promote_types(x, y)) if {x, y} != {"int64", "uint64"} else "float32"


def floating(b: NodeBuilder, x: Value) -> Value:
    """An operand of a function of real numbers."""
    return x if is_float(x.dtype) else b.cast(x, "float32")
