"""LLVM assembly spelled for types, symbols, constants and attributes: the leaves of the emitter."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from lamina.dialects.dtypes import bf16_bits
from lamina.dialects.llvm_target import ops as llvm
from lamina.errors import InternalError

_PLAIN_SYMBOL = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*")


class EmitError(InternalError):
    """Something at the llvm level that has no row in the table."""


def symbol(name: str) -> str:
    """`@name`, quoted where LLVM asks for it."""
    if _PLAIN_SYMBOL.fullmatch(name):
        return "@" + name
    return "@" + quoted(name)


def quoted(text: str) -> str:
    """A string literal of LLVM assembly."""
    safe = (chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}" for b in text.encode())
    return '"' + "".join(safe) + '"'


_FLOATS: dict[type[Attribute], tuple[str, str]] = {
    Float16Type: ("half", "f16"),
    BFloat16Type: ("bfloat", "bf16"),
    Float32Type: ("float", "f32"),
    Float64Type: ("double", "f64"),
}


def integer_of(type_: Attribute) -> IntegerType | None:
    """The type, if it is an integer (isinstance alone leaves its parameters unknown to type checkers)."""
    return cast(IntegerType, type_) if isinstance(type_, IntegerType) else None


def vector_of(type_: Attribute) -> VectorType[Attribute] | None:
    """The type, if it is a vector (isinstance alone leaves its parameters unknown to type checkers)."""
    return cast("VectorType[Attribute]", type_) if isinstance(type_, VectorType) else None


def _lanes(type_: VectorType[Attribute]) -> int:
    if type_.get_num_dims() != 1 or type_.get_num_scalable_dims():
        raise EmitError(f"type {type_} is not a vector of one fixed dimension")
    return type_.get_shape()[0]


def type_text(type_: Attribute, op: Operation | None = None) -> str:
    """The LLVM spelling of a type: `<16 x float>`."""
    if (integer := integer_of(type_)) is not None:
        if integer.signedness.data != Signedness.SIGNLESS or not 1 <= integer.width.data <= 128:
            raise EmitError(f"integer type {type_} is not signless of 1 to 128 bits", op=op)
        return f"i{integer.width.data}"
    if type(type_) in _FLOATS:
        return _FLOATS[type(type_)][0]
    if (vector := vector_of(type_)) is not None:
        return f"<{_lanes(vector)} x {type_text(vector.element_type, op)}>"
    if isinstance(type_, llvm.LLVMPointerType):
        space = type_.addr_space.data if isinstance(type_.addr_space, IntAttr) else 0
        return f"ptr addrspace({space})" if space else "ptr"
    if isinstance(type_, llvm.LLVMArrayType):
        return f"[{type_.size.data} x {type_text(type_.type, op)}]"
    if isinstance(type_, llvm.LLVMStructType):
        if type_.struct_name.data:
            raise EmitError(f"named struct type {type_} has no row", op=op)
        fields = ", ".join(type_text(t, op) for t in type_.types)
        return f"{{ {fields} }}" if fields else "{}"
    if isinstance(type_, llvm.LLVMVoidType):
        return "void"
    if isinstance(type_, llvm.LLVMFunctionType):
        inputs = [type_text(t, op) for t in type_.inputs]
        if type_.is_variadic:
            inputs.append("...")
        return f"{type_text(type_.output, op)} ({', '.join(inputs)})"
    raise EmitError(f"type {type_} has no row", op=op)


def mangled(type_: Attribute, op: Operation | None = None) -> str:
    """The type as a suffix of an overloaded intrinsic: `v16f32`, `p0`."""
    if integer_of(type_) is not None:
        return type_text(type_, op)
    if type(type_) in _FLOATS:
        return _FLOATS[type(type_)][1]
    if (vector := vector_of(type_)) is not None:
        return f"v{_lanes(vector)}{mangled(vector.element_type, op)}"
    if isinstance(type_, llvm.LLVMPointerType):
        return f"p{type_.addr_space.data if isinstance(type_.addr_space, IntAttr) else 0}"
    raise EmitError(f"no intrinsic is overloaded on {type_}", op=op)


def integer_text(value: int, width: int, op: Operation | None = None) -> str:
    """An integer constant as LLVM writes it, `true` or `false` of i1. Raises EmitError where it does not fit."""
    if not -(1 << width - 1) <= value < 1 << width:
        raise EmitError(f"constant {value} does not fit i{width}", op=op)
    if width == 1:
        return "true" if value else "false"
    return str(value)


def float_text(value: float, type_: Attribute, op: Operation | None = None) -> str:
    """A float constant as the bits LLVM reads back exactly."""
    try:
        match type_:
            case Float64Type():
                return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
            case Float32Type():
                # LLVM writes a float as the double of the same value.
                (single,) = struct.unpack("<f", struct.pack("<f", value))
                return f"0x{struct.unpack('<Q', struct.pack('<d', single))[0]:016X}"
            case Float16Type():
                return f"0xH{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
            case BFloat16Type():
                return f"0xR{bf16_bits(value):04X}"
            case _:
                raise EmitError(f"float constant of type {type_} has no row", op=op)
    except OverflowError:
        raise EmitError(f"constant {value} does not fit {type_}", op=op) from None


def scalar_text(value: Any, type_: Attribute, op: Operation | None = None) -> str:
    """A number as a constant of an integer or float type. Raises EmitError where it does not fit."""
    if (integer := integer_of(type_)) is not None:
        return integer_text(int(value), integer.width.data, op)
    return float_text(float(value), type_, op)


def constant_text(value: Attribute, type_: Attribute, op: Operation | None = None) -> str:
    """The operand text of a constant attribute seen as `type_`."""
    if isinstance(value, IntegerAttr):
        integer = integer_of(type_)
        if integer is None or cast("IntegerAttr[Any]", value).type != type_:
            raise EmitError(f"constant {value} is not of type {type_}", op=op)
        return integer_text(cast("IntegerAttr[Any]", value).value.data, integer.width.data, op)
    if isinstance(value, FloatAttr):
        number = cast("FloatAttr[Any]", value)
        if number.type != type_:
            raise EmitError(f"constant {value} is not of type {type_}", op=op)
        return float_text(number.value.data, type_, op)
    if isinstance(value, StringAttr) and isinstance(type_, llvm.LLVMArrayType):
        data = value.data.encode()
        if type_.type != IntegerType(8) or type_.size.data != len(data):
            raise EmitError(f"a string of {len(data)} bytes is not a constant of type {type_}", op=op)
        return "c" + _bytes_text(data)
    if isinstance(value, DenseIntOrFPElementsAttr):
        return _dense_text(cast("DenseIntOrFPElementsAttr[Any]", value), type_, op)
    if isinstance(value, ArrayAttr):
        return _array_text(cast("ArrayAttr[Attribute]", value), type_, op)
    raise EmitError(f"constant {value} has no row", op=op)


def _bytes_text(data: bytes) -> str:
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}" for b in data) + '"'


def _array_text(value: ArrayAttr[Attribute], type_: Attribute, op: Operation | None) -> str:
    if isinstance(type_, llvm.LLVMArrayType):
        types: Sequence[Attribute] = [type_.type] * type_.size.data
    elif isinstance(type_, llvm.LLVMStructType):
        types = type_.types.data
    else:
        raise EmitError(f"an array of constants is not of type {type_}", op=op)
    if len(types) != len(value.data):
        raise EmitError(f"{len(value.data)} constants for {len(types)} elements of {type_}", op=op)
    return aggregate_text(
        type_, [f"{type_text(t, op)} {constant_text(v, t, op)}" for v, t in zip(value.data, types, strict=True)]
    )


def aggregate_text(type_: Attribute, elements: Sequence[str]) -> str:
    """Typed elements between the brackets of an array or struct."""
    joined = ", ".join(elements)
    if isinstance(type_, llvm.LLVMArrayType):
        return f"[{joined}]"
    return f"{{ {joined} }}" if joined else "{}"


def _dense_text(value: DenseIntOrFPElementsAttr[Any], type_: Attribute, op: Operation | None) -> str:
    element = value.get_element_type()
    count, leaf = 1, type_
    while isinstance(leaf, llvm.LLVMArrayType):
        count *= leaf.size.data
        leaf = leaf.type
    if (vector := vector_of(leaf)) is not None:
        count *= _lanes(vector)
        leaf = vector.element_type
    total = 1
    for extent in value.get_shape():
        total *= extent
    if leaf != element or total != count or leaf is type_:
        raise EmitError(f"dense constant of {total} x {element} is not of type {type_}", op=op)
    data = value.data.data
    if not any(data):
        return "zeroinitializer"
    numbers = value.get_values()
    if len(numbers) == 1 and total > 1:
        return _splat_text(scalar_text(numbers[0], element, op), element, type_)
    if vector_of(type_) is not None and numbers.count(numbers[0]) == total and numbers[0]:
        return _splat_text(scalar_text(numbers[0], element, op), element, type_)
    if type_ == llvm.LLVMArrayType(total, IntegerType(8)):
        return "c" + _bytes_text(bytes(n & 255 for n in numbers))
    return _nested_text(iter(numbers), type_, element, op)


def _splat_text(text: str, element: Attribute, type_: Attribute) -> str:
    """`splat (float 1.0)` for a vector, written out for an array."""
    typed = f"{type_text(element)} {text}"
    if isinstance(type_, llvm.LLVMArrayType):
        inner = type_text(type_.type) + " " + _splat_text(text, element, type_.type)
        return f"[{', '.join([inner] * type_.size.data)}]"
    if vector_of(type_) is not None:
        return f"splat ({typed})"
    return text


def _nested_text(numbers: Iterator[Any], type_: Attribute, element: Attribute, op: Operation | None) -> str:
    if isinstance(type_, llvm.LLVMArrayType):
        inner = type_text(type_.type)
        parts = [f"{inner} {_nested_text(numbers, type_.type, element, op)}" for _ in range(type_.size.data)]
        return f"[{', '.join(parts)}]"
    if (vector := vector_of(type_)) is not None:
        scalar = type_text(element)
        lanes = _lanes(vector)
        return "<" + ", ".join(f"{scalar} {scalar_text(next(numbers), element, op)}" for _ in range(lanes)) + ">"
    return scalar_text(next(numbers), element, op)


def zero_text(type_: Attribute) -> str:
    """The constant of all zero bits: `null` of a pointer, else `zeroinitializer`."""
    return "null" if isinstance(type_, llvm.LLVMPointerType) else "zeroinitializer"
