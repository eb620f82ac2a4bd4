"""Shapes and dtypes of operands and results, which type inference computes with, and its refusal."""

from __future__ import annotations

from functools import cache
from typing import ClassVar, NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import ir_type


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


class TypeMismatch(VerifyException):
    """Operand types or attributes do not fit an op; the text is what the user reads after the op's name."""

    decided: ClassVar[bool] = True
    """False where extents are unknown and nobody can tell whether they fit (`unknown_extents.py`)."""
