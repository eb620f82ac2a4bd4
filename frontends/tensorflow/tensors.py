"""Element types, shapes and constant tensors of TensorFlow's messages (tensorflow/core/framework/*.proto)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.dtypes import itemsize, numpy_dtype
from lamina.errors import InputError, UnsupportedError
from lamina.frontends.builder import checked_nbytes
from lamina.frontends.protobuf import Message

if TYPE_CHECKING:
    from numpy.typing import NDArray

DTYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 9: "int64", 10: "bool",
    14: "bfloat16", 17: "uint16", 19: "float16", 22: "uint32", 23: "uint64",
}  # fmt: skip
"""Element types by the numbers of DataType."""
OTHER_DTYPES = {
    7: "string", 8: "complex64", 11: "qint8", 12: "quint8", 13: "qint32", 15: "qint16", 16: "quint16",
    18: "complex128", 20: "resource", 21: "variant",
}  # fmt: skip
"""Those that no tensor here has."""
DTYPE, SHAPE, CONTENT = 1, 2, 4
"""TensorProto: its type, its shape, its elements as bytes."""
_HALF, _HALF_VALUES = ("float16", "bfloat16"), 13
_FLOATS = {"float32": (5, "<f4"), "float64": (6, "<f8")}
_INTEGERS = {
    "int32": 7, "int16": 7, "int8": 7, "uint8": 7, "uint16": 7, "int64": 10, "bool": 11, "uint32": 16, "uint64": 17,
}  # fmt: skip
"""TensorProto: the lists that hold the elements of a type where `CONTENT` does not."""
MOST_AXES = 254
MOST_FILLED = 1 << 26
"""Elements of a constant whose last number stands for those that are left out."""


def type_name(number: int) -> str:
    """The name of an element type; a reference to a variable has that of its elements."""
    number = number - 100 if number > 100 else number
    return DTYPES.get(number) or OTHER_DTYPES.get(number) or f"type {number}"


def shape_of(shape: Message) -> tuple[int, ...] | None:
    """The extents of a TensorShapeProto, -1 for open ones; None where not even the rank is known."""
    if shape.number(3):
        return None
    extents = tuple(dim.number(1) for dim in shape.messages(2))
    return tuple(max(e, -1) for e in extents)


def checked_type(number: int, where: str) -> str:
    """An element type that tensors here have. Raises UnsupportedError."""
    name = type_name(number)
    if number not in DTYPES:
        raise UnsupportedError(f"tensors of the type {name} are not supported", where=where, hint="change the model")
    return name


def array_of(tensor: Message, limit: int, where: str) -> NDArray[Any]:
    """The elements of a TensorProto; one number repeated takes no memory. Raises InputError, UnsupportedError."""
    dtype = checked_type(tensor.number(DTYPE), where)
    shape = shape_of(tensor.message(SHAPE))
    if shape is None or len(shape) > MOST_AXES:
        raise InputError("a constant has no shape", where=where)
    checked_nbytes(shape, dtype, limit, where)
    count, content = prod(shape), tensor.data(CONTENT)
    if len(content):
        if len(content) != count * itemsize(dtype):
            what = f"{len(content)} bytes are no {dtype}{list(shape)}"
            raise InputError(what, where=where, hint="is the file whole?")
        return np.frombuffer(content, numpy_dtype(dtype)).reshape(shape)
    values = _listed(tensor, dtype)
    if len(values) > count:
        raise InputError(f"{len(values)} numbers are no {dtype}{list(shape)}", where=where)
    if len(values) == count:
        return values.reshape(shape)
    if len(values) <= 1:
        return np.broadcast_to(values[0] if len(values) else np.zeros((), values.dtype), shape)
    if count > MOST_FILLED:
        raise UnsupportedError(f"a constant of {count} elements that are not all said is not supported", where=where)
    # The last one counts for all that are left out.
    return np.concatenate([values, np.broadcast_to(values[-1], count - len(values))]).reshape(shape)


def _listed(tensor: Message, dtype: str) -> NDArray[Any]:
    if dtype in _FLOATS:
        number, kind = _FLOATS[dtype]
        return tensor.floats(number, kind).astype(dtype)
    if dtype in _HALF:
        bits = np.asarray(tensor.numbers(_HALF_VALUES), np.int64).astype(np.uint16)
        return bits.view(numpy_dtype(dtype))
    return np.asarray(tensor.numbers(_INTEGERS[dtype]), np.int64).astype(numpy_dtype(dtype))
