"""Types, flags and constants of scalars and vectors on the level of llvm."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    bf16,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute

from lamina.dialects.llvm_target import ops as llvm

Properties = dict[str, Attribute]

NO_FASTMATH = llvm.FastMathAttr(None)
FLOAT: Properties = {"fastmathFlags": NO_FASTMATH}
EXTREME: Properties = {"fastmathFlags": llvm.FastMathAttr([FastMathFlag.NO_SIGNED_ZEROS])}
"""Flags of maxima: no order of the two zeros, which neither ONNX nor NumPy gives; it would take twice the time."""
OVERFLOW: Properties = {"overflowFlags": IntegerAttr(0, i32)}
NO_OVERFLOW: Properties = {"overflowFlags": llvm.OverflowAttr("none")}
"""The same for truncations, which xDSL gives flags of another type."""

_TYPES: dict[Attribute, Attribute] = {}


def llvm_type(type_: Attribute) -> Attribute:
    """The llvm type that holds a tir scalar or vector: `index` is i64, and bf16 is i16 (`bfloat.py`)."""
    found = _TYPES.get(type_)
    if found is None:
        if isinstance(type_, IndexType):
            found = i64
        elif type_ == bf16:
            found = i16
        elif type(type_) is VectorType:
            found = VectorType(llvm_type(type_.element_type), type_.get_shape())
        else:
            found = type_
        _TYPES[type_] = found
    return found


def computed_type(type_: Attribute) -> Attribute:
    """The llvm type that a tir scalar or vector is computed in: as `llvm_type`, but bf16 is f32."""
    return with_element(type_, f32) if element_of(type_) == bf16 else llvm_type(type_)


def with_element(type_: Attribute, element: Attribute) -> Attribute:
    """A scalar or vector type with other elements."""
    return VectorType(element, type_.get_shape()) if type(type_) is VectorType else element


def memory_type(type_: Attribute) -> Attribute:
    """The type in memory: a boolean takes a byte."""
    if type(type_) is VectorType:
        element = memory_type(type_.element_type)
        return type_ if element is type_.element_type else VectorType(element, type_.get_shape())
    return i8 if type_ == i1 else type_


def element_of(type_: Attribute) -> Attribute:
    """The type of a lane; of a scalar itself."""
    return type_.element_type if type(type_) is VectorType else type_


def splat(value: float | int, type_: Attribute) -> Attribute:
    """The attribute of a constant in every lane of a type."""
    if type(type_) is VectorType:
        return DenseIntOrFPElementsAttr.from_list(cast("VectorType[AnyFloat]", type_), [value])
    if type(type_) is IntegerType or type(type_) is IndexType:
        return IntegerAttr(int(value), type_)
    return FloatAttr(float(value), cast("AnyFloat", type_))
