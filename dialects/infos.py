"""Shapes and dtypes of operands and results, which type inference computes with, and its refusal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import dtype_name, ir_type


@cache
def _type_text(dtype: str) -> str:
    return str(ir_type(dtype))


class TensorInfo(NamedTuple):
    """Shape and numpy dtype name of a tensor: what type inference computes with."""

    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        # As the type is printed, without making it: where extents are unknown thousands of refusals name theirs.
        dims = "".join("?x" if extent == DYNAMIC_INDEX else f"{extent}x" for extent in self.shape)
        return f"tensor<{dims}{_type_text(self.dtype)}>"


SYMBOLS = "relay.symbols"
"""The attribute of a module that says what values the names of extents in it may have."""


class TypeMismatch(VerifyException):
    """Operand types or attributes do not fit an op; the text is what the user reads after the op's name."""

    decided: ClassVar[bool] = True
    """False where extents are unknown and nobody can tell whether they fit (`unknown_extents.py`)."""


_open_info: Callable[[Attribute], TensorInfo | None] | None = None


def open_infos_by(read: Callable[[Attribute], TensorInfo | None]) -> None:
    """From now on `tensor_info` asks this for types with `?`, which gives None where extents are unknown."""
    global _open_info
    _open_info = read


def tensor_info(type_: Attribute) -> TensorInfo:
    """Shape and dtype of a tensor type. Raises TypeMismatch for anything else."""
    if not isinstance(type_, TensorType):
        raise TypeMismatch(f"expects tensors, got {type_}")
    shape = type_.get_shape()
    if DYNAMIC_INDEX in shape:
        found = _open_info(cast(Attribute, type_)) if _open_info is not None else None
        if found is None:
            raise TypeMismatch(f"expects extents that are known, got {type_}")
        return found
    try:
        return TensorInfo(shape, dtype_name(cast(Attribute, type_.element_type)))  # pyright: ignore[reportUnknownMemberType]
    except ValueError as e:
        raise TypeMismatch(str(e)) from None


def has_unknown_extents(types: Sequence[Attribute]) -> bool:
    """Whether one of the types is a tensor with a `?`."""
    return any(isinstance(t, TensorType) and DYNAMIC_INDEX in t.get_shape() for t in types)


# -- questions about extents that may depend on symbols (`index/symbols.py`), which record nothing -----------------


def hint_of(number: int) -> int:
    """A number, of one that depends on symbols the value for their hints: for choices that change no result."""
    return number if type(number) is int else getattr(number, "hint", number)


def least_of(number: int) -> int:
    """A number, of one that depends on symbols what it is never less than."""
    return number if type(number) is int else getattr(number, "least", number)


def is_always(number: int, value: int) -> bool:
    """Whether a number is a value for all values of the symbols."""
    if type(number) is int:
        return number == value
    decide: Any = getattr(number, "is_always", None)
    return number == value if decide is None else decide(value)


def exact_quotient(a: int, b: int) -> int:
    """The number whose product with `b` is `a`. Whether `b` may be 0 is not asked: there is no element then."""
    divide: Any = getattr(a, "exact_quotient", None)
    return a // b if divide is None else divide(b)


def surely_equal(a: int, b: int) -> bool:
    """Whether two numbers are equal for all values of the symbols."""
    return is_always(a - b, 0)


def surely_same(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two shapes are equal for all values of the symbols."""
    return len(a) == len(b) and all(map(surely_equal, a, b))


def at_least(number: int, value: int) -> bool:
    """Whether a number is no less than a value for all values of the symbols."""
    if type(number) is int:
        return number >= value
    decide: Any = getattr(number, "at_least", None)
    return number >= value if decide is None else decide(value)


def greatest(a: int, b: int) -> int:
    """The greater of two numbers, which records something only where it is not known."""
    if at_least(a - b, 0):
        return a
    return b if at_least(b - a, 0) else max(a, b)


def is_symbolic(number: Any) -> bool:
    """Whether a number depends on symbols."""
    return hasattr(number, "symbols")
