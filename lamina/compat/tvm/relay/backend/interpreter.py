"""Results of programs besides arrays: values of data types, cells, functions. Nothing recurses along long lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute

from lamina.compat.tvm.devices import Device, cpu
from lamina.compat.tvm.nd import NDArray
from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.errors import UsageError
from lamina.frontends.tvm_text import adt
from lamina.frontends.tvm_text import expr as e
from lamina.vm.values import AdtValue, Cell, value_text


class ConstructorValue:
    """A value that a constructor made: its number among those of its type (`tag`), its fields, itself."""

    def __init__(self, made: AdtValue, constructor: adt.Constructor, known: Constructors, device: Device) -> None:
        self.made = made
        """The value as our machine has it."""
        self.constructor = constructor
        self._known = known
        self._device = device

    @property
    def tag(self) -> int:
        return self.constructor.tag

    @property
    def fields(self) -> list[Any]:
        return [wrapped(f, self._known, self._device) for f in self.made.fields]

    def __getitem__(self, index: int) -> Any:
        return wrapped(self.made.fields[index], self._known, self._device)

    def __len__(self) -> int:
        return len(self.made.fields)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fields)

    def __repr__(self) -> str:
        return value_text(self.made)


class RefValue:
    """A cell; `value` is what it holds."""

    def __init__(self, cell: Cell, known: Constructors, device: Device) -> None:
        self.cell = cell
        self._known = known
        self._device = device

    @property
    def value(self) -> Any:
        return wrapped(self.cell.value, self._known, self._device)


class Constructors:
    """The constructors of a module by their names."""

    def __init__(self, types: Mapping[Any, adt.TypeData] | None = None) -> None:
        self.by_name = {c.name_hint: c for d in (types or {}).values() for c in d.constructors}

    def of(self, made: AdtValue) -> adt.Constructor:
        """That of a value. Raises UsageError where the module has none of its name."""
        found = self.by_name.get(made.constructor)
        if found is None:
            raise UsageError(f"the module has no constructor {made.constructor}")
        return found


def wrapped(value: Any, known: Constructors, device: Device | None = None) -> Any:
    """A value of our machine as TVM gives it: NDArrays, lists of the fields of tuples, constructor values."""
    device = device or cpu(0)
    if isinstance(value, tuple):
        return [wrapped(v, known, device) for v in cast("tuple[Any, ...]", value)]
    if isinstance(value, (np.ndarray, np.generic)):
        return NDArray(np.asarray(cast("Any", value)), device)
    if isinstance(value, AdtValue):
        return ConstructorValue(value, known.of(value), known, device)
    return RefValue(value, known, device) if isinstance(value, Cell) else value


def plain(value: Any) -> Any:
    """A value of TVM's as our machine takes it."""
    if isinstance(value, (list, tuple)):
        return tuple(plain(v) for v in cast("list[Any]", value))
    if isinstance(value, NDArray):
        return value.numpy_view
    if isinstance(value, ConstructorValue):
        return value.made
    if isinstance(value, RefValue):
        return value.cell
    if isinstance(value, e.Constant):
        return value.values
    return e.const(value).values if isinstance(value, (bool, int, float)) else value


def fitted(value: Any, type_: Attribute) -> Any:
    """A value of TVM's as our machine takes it for a parameter of a type: numbers of another dtype are cast."""
    found: Any = plain(value)
    if isinstance(type_, TupleType) and isinstance(found, tuple):
        fields = cast("tuple[Any, ...]", found)
        return tuple(map(fitted, fields, type_.types)) if len(fields) == len(type_.types) else fields
    if not isinstance(type_, TensorType) or not isinstance(found, (np.ndarray, np.generic)):
        return found
    return np.asarray(found, numpy_dtype(dtype_name(cast("Any", type_).element_type)))


__all__ = ["ConstructorValue", "Constructors", "RefValue", "fitted", "plain", "wrapped"]
