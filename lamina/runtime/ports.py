"""Inputs and outputs of programs, and the check that arrays are as they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lamina.dialects.index.linear import MAX_EXTENT, ZERO, Atom, Linear, form_of_plain, linear_text, plain_form
from lamina.dialects.index.symbol_range import TIMES, SymbolRange
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import ExtentError, InputError, did_you_mean

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]

SIZE = "index"
"""The dtype of a port that is a size."""


class Extents(NamedTuple):
    """The extents of an array, as forms over the positions of a program's sizes."""

    results: tuple[Linear, ...]
    names: tuple[str, ...] = ()
    """Of the sizes."""

    def __str__(self) -> str:
        return ", ".join(self._texts())

    def product(self) -> str:
        """The text of their product."""
        return " * ".join(f"({text})" if " " in text else text for text in self._texts())

    def _texts(self) -> list[str]:
        def name(position: Atom) -> str:
            if isinstance(position, int) and position < len(self.names):
                return self.names[position]
            return f"d{position}"

        # A size without a name is 0 unless somebody who knows of it says otherwise.
        unnamed: dict[Atom, Linear] = {n: ZERO for n, known in enumerate(self.names) if not known}
        return [linear_text(e.substitute(unnamed) if unnamed else e, name) for e in self.results]


@dataclass(frozen=True)
class Port:
    """An input or output: name, shape and numpy dtype name."""

    name: str
    shape: tuple[int, ...]
    """DYNAMIC_INDEX stands for an extent that is known only when the program runs."""
    dtype: str
    extents: Extents | None = None
    """The extents over the program's sizes, where one of them is unknown."""
    range: SymbolRange | None = None
    """Values of a size, where the program was compiled for those only."""
    conditions: tuple[Linear, ...] = ()
    """Forms over the positions of the sizes up to this one that are never negative."""

    def plain(self) -> list[Any]:
        """All that it says as plain values."""
        known = {"extents": [plain_form(e) for e in self.extents.results]} if self.extents is not None else {}
        more = {
            **known,
            **({"range": self.range.numbers()} if self.range is not None else {}),
            **({"conditions": [*map(plain_form, self.conditions)]} if self.conditions else {}),
        }
        return [self.name, list(self.shape), self.dtype, *([more] if more else [])]

    @staticmethod
    def from_plain(plain: Sequence[Any]) -> Port:
        """The other way round."""
        name, shape, dtype, *rest = plain
        more: Mapping[str, Any] = rest[0] if rest else {}
        extents = Extents(tuple(map(form_of_plain, more["extents"]))) if "extents" in more else None
        values = SymbolRange(*more["range"]) if "range" in more else None
        conditions = tuple(map(form_of_plain, more.get("conditions", ())))
        return Port(name, tuple(shape), dtype, extents, values, conditions)

    def describe(self) -> str:
        """Type and shape as text."""
        if self.extents is None:
            return f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        return f"{self.dtype}[{self.extents}]"

    @property
    def has_default(self) -> bool:
        """Whether it is a size that only a session gives."""
        return self.range is not None and self.range.default is not None

    def tells(self, size: int) -> int | None:
        """The dimension whose extent is just a size, by its number; None where there is none."""
        alone = Linear.dim(size)
        forms = self.extents.results if self.extents is not None else ()
        return forms.index(alone) if alone in forms else None

    def shape_for(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The shape for given sizes."""
        if self.extents is None:
            return self.shape
        values: dict[Atom, int] = dict(enumerate(sizes))
        return tuple(e.evaluate(values) for e in self.extents.results)


class ShapeTable:
    """The shapes of ports for given sizes: one that several have is worked out once."""

    def __init__(self, ports: Sequence[Port]) -> None:
        places: dict[Any, int] = {}
        self._places = [places.setdefault((p.shape, p.extents and p.extents.results), len(places)) for p in ports]
        by_place = dict(zip(self._places, ports, strict=True))
        self._ports = [by_place[n] for n in range(len(places))]

    def for_sizes(self, sizes: Sequence[int]) -> list[tuple[int, ...]]:
        """The shapes in the order of the ports."""
        shapes = [p.shape_for(sizes) for p in self._ports]
        return [shapes[n] for n in self._places]


def naming_sizes(ports: Sequence[Port], names: Sequence[str]) -> tuple[Port, ...]:
    """Ports whose extents name the sizes of their program."""
    given = tuple(names)
    return tuple(p if p.extents is None else replace(p, extents=p.extents._replace(names=given)) for p in ports)


def by_name(ports: Sequence[Port], arrays: Sequence[Any]) -> dict[str, Any]:
    """Arrays in the order of ports, by the names of these. Raises InputError for another number of them."""
    if len(arrays) != len(ports):
        names = ", ".join(f"{p.name}: {p.describe()}" for p in ports)
        raise InputError(f"{len(arrays)} arrays given, {len(ports)} expected", hint=f"inputs are {names}")
    return {p.name: a for p, a in zip(ports, arrays, strict=True)}


def check_inputs(ports: Sequence[Port], inputs: Mapping[str, Any]) -> list[Array]:
    """Arrays in the order of the ports. Raises LaminaError for a wrong name, dtype, rank or shape."""
    names = [p.name for p in ports if not p.has_default]
    for name in inputs:
        if name not in names:
            hint = did_you_mean(name, names) or f"it has {', '.join(names)}"
            raise InputError("the model has no such input", where=f"input {name!r}", hint=hint)
    sizes = infer_sizes(ports, inputs)
    return [
        np.asarray(sizes[p.name], np.int64) if p.dtype == SIZE else check_input(p, inputs.get(p.name), sizes)
        for p in ports
    ]


def check_input(port: Port, given: Any, sizes: Mapping[str, int]) -> Array:
    """The array for a port, its elements in order. Raises LaminaError for none, a wrong dtype, rank or shape."""
    where = f"input {port.name!r}"
    if given is None:
        raise InputError(f"missing; expected {port.describe()}", where=where)
    array = np.asarray(given)
    if array.dtype != numpy_dtype(port.dtype):
        what = array.dtype.name if array.dtype.isnative else f"byte-swapped {array.dtype.name}"
        raise InputError(f"{what} given, {port.dtype} expected", where=where, hint="convert it with astype")
    check_rank(port, array.ndim)
    if array.shape != port.shape_for(list(sizes.values())):
        shown = port.extents.names if port.extents is not None else ()
        known = ", ".join(f"{n} = {v}" for n, v in sizes.items() if n in shown)
        expected = port.describe() + (f" with {known}" if known else "")
        raise ExtentError(f"shape {list(array.shape)} given, expected {expected}", where=where)
    # ascontiguousarray would make rank 1 of rank 0.
    return np.asarray(array, order="C")


def check_rank(port: Port, rank: int) -> None:
    """Raise InputError for another number of dimensions than a port has."""
    if rank != len(port.shape):
        raise InputError(f"rank {rank} given, expected {port.describe()}", where=f"input {port.name!r}")


def infer_sizes(ports: Sequence[Port], inputs: Mapping[str, Any]) -> dict[str, int]:
    """The program's sizes: as given, else from the first array that has one as an extent of its own, else by default.

    Raises InputError for a size that no array tells, and for one that is no number from 0 on; ExtentError for one that
    the program is not for.
    """
    declared = [p for p in ports if p.dtype == SIZE]
    names = [p.name for p in declared]
    found: dict[str, int] = {}
    for n, size in enumerate(declared):
        name = size.name
        if TIMES in name and all(f in found for f in name.split(TIMES)):
            found[name] = prod(found[f] for f in name.split(TIMES))
            continue
        if name in inputs:
            value = np.asarray(inputs[name])
            if value.shape != () or value.dtype.kind not in "iu":
                raise InputError("a size is one integer", where=f"input {name!r}")
            found[name] = int(value)
        for p in ports if name not in found else ():
            array, dimension = inputs.get(p.name), p.tells(n)
            if name in found or dimension is None or array is None:
                continue
            check_rank(p, np.ndim(array))
            found[name] = np.shape(array)[dimension]
        if name not in found and size.has_default:
            found[name] = size.range.default  # type: ignore[assignment, union-attr]
        if name not in found:
            raise InputError("no array tells this size; give it as an integer", where=f"input {name!r}")
        if not 0 <= found[name] <= MAX_EXTENT:
            raise InputError(f"{found[name]} is no size", where=f"input {name!r}")
        problem = size.range.problem(found[name]) if size.range is not None else None
        if problem is not None:
            raise ExtentError(f"{found[name]} given, {problem}", where=f"size {name!r}")
        for c in size.conditions:
            if c.evaluate(dict(enumerate(found.values()))) < 0:
                given = ", ".join(f"{k} = {v}" for k, v in found.items())
                said = f"{Extents((c,), tuple(names))} >= 0"
                raise ExtentError(f"{given} given, the program was compiled for {said}", where=f"size {name!r}")
    return found
