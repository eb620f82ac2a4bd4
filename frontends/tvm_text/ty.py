"""Relay's types as TVM's Python has them, and how they stand for the types of our IR.

A tensor's extent is a number, `Any()` or a name: `TensorType((1, Any(), "n"), "float32")`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any as Anything
from typing import cast

import xdsl.dialects.builtin as builtin
from xdsl.ir import Attribute, TypeAttribute

from lamina.dialects.dtypes import dtype_name, dtype_of, tensor_type
from lamina.dialects.relay import value_types
from lamina.errors import InputError, UnsupportedError


class TypeKind(IntEnum):
    """Kinds of types, by TVM's numbers."""

    Type = 0
    ShapeVar = 1
    BaseType = 2
    Shape = 3
    Constraint = 4
    AdtHandle = 5
    TypeData = 6


class Type:
    """Base of the types."""

    def __str__(self) -> str:
        return type_text(self)

    __repr__ = __str__


class _AnyExtent:
    """An extent that is not known: `?`. It has `value` None where a number has itself."""

    value = None
    dtype = "int32"

    def __repr__(self) -> str:
        return "?"


_ANY = _AnyExtent()


def Any() -> _AnyExtent:  # noqa: N802
    """The unknown extent."""
    return _ANY


class Extent(int):
    """An extent as TVM's programs read it: a number that also has `value`."""

    @property
    def value(self) -> int:
        return int(self)


@dataclass(frozen=True, init=False, repr=False)
class TensorType(Type):
    """A tensor by its shape and dtype."""

    shape: tuple[Anything, ...]
    dtype: str

    def __init__(self, shape: Anything = (), dtype: object = "float32") -> None:
        dims: Sequence[Anything] = cast("Sequence[Anything]", shape) if isinstance(shape, (list, tuple)) else (shape,)
        object.__setattr__(self, "shape", tuple(map(_extent, dims)))
        object.__setattr__(self, "dtype", dtype_of(cast("str", dtype)))

    @property
    def concrete_shape(self) -> tuple[int, ...]:
        """The shape, where all of it is known. Raises InputError."""
        if not all(isinstance(d, int) for d in self.shape):
            raise InputError(f"the shape of {self} is not known")
        return self.shape


def _extent(dim: Anything) -> Anything:
    if dim is _ANY or dim is None:
        return _ANY
    if isinstance(dim, str):
        return dim
    try:
        return Extent(int(getattr(dim, "value", dim)))
    except (TypeError, ValueError):
        return str(getattr(dim, "name", dim))


@dataclass(frozen=True, init=False, repr=False)
class TupleType(Type):
    """Several values as one."""

    fields: tuple[Type, ...]

    def __init__(self, fields: Sequence[Type]) -> None:
        object.__setattr__(self, "fields", tuple(fields))


@dataclass(frozen=True, init=False, repr=False, eq=False)
class FuncType(Type):
    """A function by what it takes and gives."""

    arg_types: tuple[Type, ...]
    ret_type: Type
    type_params: tuple[Type, ...]

    def __init__(
        self, arg_types: Sequence[Type], ret_type: Type, type_params: Sequence[Type] = (), type_constraints: object = ()
    ) -> None:
        object.__setattr__(self, "type_params", tuple(type_params))
        object.__setattr__(self, "arg_types", tuple(arg_types))
        object.__setattr__(self, "ret_type", ret_type)

    def __eq__(self, other: object) -> bool:
        """Up to the names of type parameters."""
        if not isinstance(other, FuncType) or len(self.type_params) != len(other.type_params):
            return False
        one, two = (t.sides() for t in (self, other))
        return one == two

    def __hash__(self) -> int:
        return hash(self.sides())

    def sides(self) -> tuple[Type, ...]:
        """The types of its parameters and its result, with type parameters by their numbers."""
        parts = (*self.arg_types, self.ret_type)
        if not self.type_params:
            return parts
        numbered = {p: TypeVar(f"{n}") for n, p in enumerate(self.type_params)}
        return tuple(replaced(t, numbered) for t in parts)


@dataclass(frozen=True, repr=False)
class RefType(Type):
    """A cell that holds a value."""

    value: Type


@dataclass(frozen=True, repr=False)
class GlobalTypeVar(Type):
    """The name of a data type."""

    name_hint: str
    kind: int = field(default=TypeKind.AdtHandle, compare=False)

    def __call__(self, *args: Type) -> TypeCall:
        return TypeCall(self, tuple(args))


@dataclass(frozen=True, repr=False)
class TypeVar(Type):
    """A type parameter of a data type."""

    name_hint: str
    kind: int = TypeKind.Type


@dataclass(frozen=True, repr=False)
class IncompleteType(Type):
    """A type that is to be found out: as if none were written."""

    kind: int = TypeKind.Type

    def __str__(self) -> str:
        return "_"


def written(type_: Anything) -> Anything:
    """A type that a program writes, None for one that it leaves open."""
    return None if isinstance(type_, IncompleteType) else type_


@dataclass(frozen=True, init=False, repr=False)
class TypeCall(Type):
    """A data type with its type parameters given."""

    func: GlobalTypeVar
    args: tuple[Type, ...]

    def __init__(self, func: GlobalTypeVar, args: Sequence[Type]) -> None:
        object.__setattr__(self, "func", func)
        object.__setattr__(self, "args", tuple(args))


def scalar_type(dtype: str) -> TensorType:
    """A tensor of rank 0."""
    return TensorType((), dtype)


def to_ir(type_: Type) -> Attribute:
    """The type of our IR."""
    if isinstance(type_, TensorType):
        dims = [int(d) if isinstance(d, int) else value_types.UNNAMED if d is _ANY else d for d in type_.shape]
        if all(isinstance(d, int) for d in dims):
            return tensor_type(tuple(cast("list[int]", dims)), type_.dtype)
        return value_types.dynamic_tensor(dims, type_.dtype)
    if isinstance(type_, TupleType):
        fields = [cast(TypeAttribute, to_ir(f)) for f in type_.fields]
        return builtin.TupleType(builtin.ArrayAttr(fields))
    if isinstance(type_, FuncType):
        if type_.type_params:
            raise UnsupportedError(
                "a value that is a function with type parameters is not bridged", hint="call it, or say its types"
            )
        return builtin.FunctionType.from_lists([to_ir(a) for a in type_.arg_types], spread(to_ir(type_.ret_type)))
    if isinstance(type_, RefType):
        return value_types.RefType(to_ir(type_.value))
    if isinstance(type_, TypeCall):
        return value_types.AdtType.of(type_.func.name_hint, *map(to_ir, type_.args))
    if isinstance(type_, GlobalTypeVar):
        return value_types.AdtType.of(type_.name_hint)
    if isinstance(type_, TypeVar):
        return value_types.TypeVar(builtin.StringAttr(type_.name_hint))
    raise InputError(f"{type(type_).__name__} is no type", hint="as in relay.TensorType((1, 3), 'float32')")


def from_ir(type_: Attribute) -> Type:
    """The type that stands for one of our IR."""
    if isinstance(type_, builtin.TensorType):
        dims = [_ANY if d == value_types.UNNAMED else d for d in value_types.extents(cast("Anything", type_))]
        return TensorType(dims, dtype_name(cast(Attribute, type_.element_type)))  # pyright: ignore[reportUnknownMemberType]
    if isinstance(type_, builtin.TupleType):
        return TupleType([from_ir(t) for t in type_.types.data])
    if isinstance(type_, builtin.FunctionType):
        return FuncType([from_ir(t) for t in type_.inputs.data], joined(type_.outputs.data))
    if isinstance(type_, value_types.RefType):
        return RefType(from_ir(type_.value))
    if isinstance(type_, value_types.AdtType):
        return TypeCall(GlobalTypeVar(type_.adt.data), [from_ir(t) for t in type_.arguments])
    if isinstance(type_, value_types.TypeVar):
        return TypeVar(type_.label.data)
    raise InputError(f"{type_} is no type of Relay")


def replaced(type_: Anything, by: Mapping[Type, Type]) -> Anything:
    """A type with others in the place of type parameters."""
    if type_ in by:
        return by[type_]
    if isinstance(type_, TupleType):
        return TupleType([replaced(f, by) for f in type_.fields])
    if isinstance(type_, FuncType):
        inner = {k: v for k, v in by.items() if k not in type_.type_params}
        args = [replaced(a, inner) for a in type_.arg_types]
        return FuncType(args, replaced(type_.ret_type, inner), type_.type_params)
    if isinstance(type_, RefType):
        return RefType(replaced(type_.value, by))
    return TypeCall(type_.func, [replaced(a, by) for a in type_.args]) if isinstance(type_, TypeCall) else type_


def parts_of(type_: Anything) -> tuple[Anything, ...]:
    """The types that a type is made of."""
    if isinstance(type_, TupleType):
        return type_.fields
    if isinstance(type_, FuncType):
        return (*type_.arg_types, type_.ret_type)
    if isinstance(type_, RefType):
        return (type_.value,)
    return type_.args if isinstance(type_, TypeCall) else ()


def spread(type_: Attribute) -> list[Attribute]:
    """The results of a function that gives a value of the type: those of a tuple, unless it has one field."""
    if isinstance(type_, builtin.TupleType) and len(type_.types) != 1:
        return list(type_.types.data)
    return [type_]


def joined(types: Sequence[Attribute]) -> Type:
    """The return type of a function, by its results."""
    return from_ir(types[0]) if len(types) == 1 else TupleType([from_ir(t) for t in types])


# -- text ------------------------------------------------------------------------------------------------------------


def type_text(type_: Anything) -> str:
    """A type: `Tensor[(1, ?), float32]`, `(int32, Tensor[(3), bool])`, `fn (float32) -> float32`."""
    if isinstance(type_, TensorType):
        if not type_.shape:
            return type_.dtype
        dims = ", ".join(str(int(d)) if isinstance(d, int) else str(d) for d in type_.shape)
        return f"Tensor[({dims}), {type_.dtype}]"
    if isinstance(type_, TupleType):
        inner = ", ".join(map(type_text, type_.fields))
        return f"({inner},)" if len(type_.fields) == 1 else f"({inner})"
    if isinstance(type_, FuncType):
        args = ", ".join(map(type_text, type_.arg_types))
        return f"fn {parameters_text(type_.type_params)}({args}) -> {type_text(type_.ret_type)}"
    if isinstance(type_, RefType):
        return f"ref({type_text(type_.value)})"
    if isinstance(type_, TypeCall):
        args = ", ".join(map(type_text, type_.args))
        return f"{type_.func.name_hint}[{args}]" if args else type_.func.name_hint
    return str(getattr(type_, "name_hint", type_))


def parameters_text(type_params: Sequence[Anything]) -> str:
    """`[A, B] ` before the parameters of a function, nothing where it has no type parameters."""
    return f"[{', '.join(p.name_hint for p in type_params)}] " if type_params else ""
