"""Shapes and dtypes of tensor types. What they are as values, and the refusal, stand in `lamina.dialects.infos`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.infos import TensorInfo, TypeMismatch


def tensor_info(type_: Attribute) -> TensorInfo:
    """Shape and dtype of a tensor type. Raises TypeMismatch for anything else."""
    if not isinstance(type_, TensorType):
        raise TypeMismatch(f"expects tensors, got {type_}")
    shape = type_.get_shape()
    if DYNAMIC_INDEX in shape:
        raise TypeMismatch(f"expects extents that are known, got {type_}")
    try:
        return TensorInfo(shape, dtype_name(cast(Attribute, type_.element_type)))  # pyright: ignore[reportUnknownMemberType]
    except ValueError as e:
        raise TypeMismatch(str(e)) from None


def has_unknown_extents(types: Sequence[Attribute]) -> bool:
    """Whether one of the types is a tensor with a `?`."""
    return any(isinstance(t, TensorType) and DYNAMIC_INDEX in t.get_shape() for t in types)
