"""Element types of results, by PyTorch's rules (https://docs.pytorch.org/docs/stable/tensor_attributes.html).

Tensors with axes decide; those of rank 0, and then Python's numbers, count only where they are of a higher category
(bool, integer, float) than all before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lamina.dialects.dtypes import is_float, itemsize
from lamina.frontends.builder import Value
from lamina.frontends.tensor_builder import DEFAULT, number_type


def promote(a: str | None, b: str | None) -> str | None:
    """The type of a result of two operands; None is no operand."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if "bool" in (a, b):
        return b if a == "bool" else a
    if is_float(a) and is_float(b):
        if itemsize(a) == itemsize(b):
            return "float32"
        return max(a, b, key=itemsize)
    if is_float(a) or is_float(b):
        return a if is_float(a) else b
    if a.startswith("uint") == b.startswith("uint"):
        return max(a, b, key=itemsize)
    unsigned, signed = (a, b) if a.startswith("uint") else (b, a)
    return signed if itemsize(signed) > itemsize(unsigned) else f"int{min(16 * itemsize(unsigned), 64)}"


def result_type(operands: Iterable[Any]) -> str:
    """The type of a result of tensors and numbers; None among them is left out."""
    wide: str | None = None
    single: str | None = None
    number: str | None = None
    for o in operands:
        if isinstance(o, Value):
            if o.rank:
                wide = promote(wide, o.dtype)
            else:
                single = promote(single, o.dtype)
        elif o is not None:
            number = promote(number, number_type(o))
    return _combined(wide, _combined(single, number)) or DEFAULT


def _combined(higher: str | None, lower: str | None) -> str | None:
    if higher is None or lower is None:
        return lower if higher is None else higher
    if not is_float(higher) and (higher == "bool" or is_float(lower)):
        return promote(higher, lower)
    return higher


def float_type(dtype: str) -> str:
    """The type of a function of real numbers: integers become floats."""
    return dtype if is_float(dtype) else DEFAULT
