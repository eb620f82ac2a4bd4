"""Element types under their three names: numpy's ("float32"), MLIR's (`f32`) and the byte width.

Integers are signless in the IR and read as signed two's complement; `ui8` ... `ui64` are the unsigned ones,
`i1` is a boolean. This is the only place that relates them.
"""

from __future__ import annotations

import struct
from functools import cache
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute

from lamina.dialects.numpy_dtypes import numpy_dtype as numpy_dtype
from lamina.errors import InputError

_IR_TYPE: dict[str, Attribute] = {
    "bool": IntegerType(1),
    "float16": f16,
    "bfloat16": bf16,
    "float32": f32,
    "float64": f64,
    **{f"int{n}": IntegerType(n) for n in (8, 16, 32, 64)},
    **{f"uint{n}": IntegerType(n, Signedness.UNSIGNED) for n in (8, 16, 32, 64)},
}
_NAME = {ir_type: name for name, ir_type in _IR_TYPE.items()}
_BYTES = {"bool": 1, "bfloat16": 2, "float16": 2, "float32": 4, "float64": 8}

DTYPES: tuple[str, ...] = tuple(_IR_TYPE)
ELEMENT_TYPES: tuple[Attribute, ...] = tuple(_NAME)


_SPELLINGS = {"uint1": "bool", "int": "int32", "float": "float32", "handle": "int64"}


def dtype_of(name: Any) -> str:
    """A dtype in any of its spellings as a numpy name. Raises InputError for one that does not exist."""
    text = str(getattr(name, "name", name)) if not isinstance(name, type) else _numpy_name(name)
    text = _SPELLINGS.get(text, text)
    if text not in DTYPES:
        raise InputError(f"no dtype {text!r}", hint=f"there are {', '.join(DTYPES)}")
    return text


def _numpy_name(type_: type) -> str:
    import numpy as np

    return np.dtype(type_).name


def ir_type(dtype: str) -> Attribute:
    """The MLIR element type of a numpy dtype name. Raises ValueError for a dtype outside `DTYPES`."""
    found = _IR_TYPE.get(dtype)
    if found is None:
        raise ValueError(f"unsupported element type {dtype!r}")
    return found


def dtype_name(element_type: Attribute) -> str:
    """The numpy dtype name of an MLIR element type (`index` counts as int64)."""
    if isinstance(element_type, IndexType):
        return "int64"
    found = _NAME.get(element_type)
    if found is None:
        raise ValueError(f"unsupported element type {element_type}")
    return found


def is_ir_type(element_type: Attribute) -> bool:
    """Whether an MLIR element type has a numpy dtype."""
    return element_type in _NAME


def itemsize(dtype: str) -> int:
    """Bytes of one element in memory (a boolean takes one)."""
    return _BYTES.get(dtype) or int(dtype.lstrip("uint")) // 8


def bytes_of_type(type_: Attribute) -> int:
    """Bytes of a tensor or a buffer, whose extents are known."""
    assert isinstance(type_, TensorType | MemRefType)
    shaped = cast("TensorType[Attribute]", type_)
    return prod(shaped.get_shape()) * itemsize(dtype_name(shaped.element_type))


def bits_of(dtype: str) -> int:
    """Bits of a value of a dtype: one of a boolean."""
    return 1 if dtype == "bool" else 8 * itemsize(dtype)


def integer_range(dtype: str) -> tuple[int, int]:
    """The least and the greatest value of a dtype of integers, or of booleans."""
    low = 0 if is_unsigned(dtype) else -(1 << bits_of(dtype) - 1)
    return low, low + (1 << bits_of(dtype)) - 1


def has_integer(dtype: str, value: int) -> bool:
    """Whether a dtype of integers, or of booleans, has a value."""
    low, high = integer_range(dtype)
    return low <= value <= high


def holding(dtype: str, number: int) -> str:
    """A dtype of integers, where it has a number; else int64."""
    return dtype if has_integer(dtype, number) else "int64"


def bf16_bits(number: float) -> int:
    """The 16 bits of the bfloat16 nearest to a number, of two of the even one; NaN stays NaN. Raises OverflowError."""
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    if number != number:
        return (bits >> 16) | 0x40
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 & 0xFFFF


def is_float(dtype: str) -> bool:
    """Whether a numpy dtype name is float16, bfloat16, float32 or float64."""
    return dtype in ("float32", "float64", "float16", "bfloat16")


def is_unsigned(dtype: str) -> bool:
    """Whether values of a numpy dtype name are read without a sign: uint8 ... uint64 and bool."""
    return dtype.startswith("uint") or dtype == "bool"


@cache
def tensor_type(shape: tuple[int, ...], dtype: str) -> TensorType[Attribute]:
    """`tensor<shape x dtype>`, shared between equal requests."""
    return TensorType(ir_type(dtype), shape)


@cache
def vector_type(element: Attribute, lanes: int) -> VectorType[Any]:
    """`vector<lanes x element>`, shared between equal requests: to make one costs as much as three ops."""
    return VectorType(element, [lanes])


def scalar_type(element_type: Attribute) -> Attribute:
    """The type a scalar of that element has in te and tir bodies: arith knows signless integers only."""
    if type(element_type) is IntegerType and element_type.signedness.data is Signedness.UNSIGNED:
        return IntegerType(element_type.width.data)
    return element_type
