"""Tensors of which an extent is known at run time only, and numbers that are computed from such extents.

    %s = relay.shape_of %x {dtype = "int64"} : (tensor<?x4xf32>) -> tensor<2xi64>
    %n = relay.strided_slice %s {begin = [0], end = [1]} : (tensor<2xi64>) -> tensor<1xi64>

Numbers stay expressions (`extents.py`) until a tensor of them is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from lamina.dialects.attributes import to_attribute
from lamina.dialects.dtypes import dtype_name
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.relay import find_op
from lamina.dialects.relay.unknown_extents import Undecided
from lamina.dialects.relay.value_types import UNNAMED, dynamic_tensor, is_dynamic
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import AnyValue, Builder, OptionalValue, SequenceValue
from lamina.frontends.onnx.extents import GENERIC, Dim, Draws, Entry, Extent, Number

if TYPE_CHECKING:
    from lamina.dialects.relay.base import RelayOp

    Table = np.ndarray[Any, np.dtype[np.object_]]


class OpenValue:
    """A tensor during import with an extent that only the run tells, or whose elements are computed from such.

    `entries` holds the elements of the latter, integers and `Number`s; it has an SSA value where one is needed only.
    """

    __slots__ = ("dims", "dtype", "entries", "logical", "name", "ssa")
    array = None

    def __init__(
        self, dims: Sequence[Dim], dtype: str, ssa: SSAValue | None = None, entries: Table | None = None,
        logical: str = "",
    ) -> None:  # fmt: skip
        self.dims = tuple(dims)
        self.dtype = dtype
        self.ssa = ssa
        self.entries = entries
        self.logical = logical or dtype
        self.name = ""

    @property
    def rank(self) -> int:
        return len(self.dims)

    def here(self, b: Builder) -> SSAValue:
        """The SSA value in the function under construction."""
        if self.ssa is not None:
            return b.frame.here(self.ssa)
        assert self.entries is not None
        entries: list[Entry] = list(self.entries.reshape(-1))
        return b.ssa(shaped(b, vector(b, entries), self.entries.shape, self.dtype))

    def read_from(self) -> list[Extent]:
        """The extents that the entries are expressions of."""
        numbers = [] if self.entries is None else [e for e in self.entries.reshape(-1) if isinstance(e, Number)]
        return [e for n in numbers for _, product in n.terms for e in product]

    def held(self, logical: str) -> OpenValue:
        """A tensor of bytes as one of the type that they hold."""
        return OpenValue(self.dims, self.dtype, self.ssa, self.entries, logical)

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(str(d) if isinstance(d, int) else '?' for d in self.dims)}]"


def is_open(value: AnyValue | None) -> bool:
    """Whether extents of a value, or of a tensor in it, are known at run time only."""
    if isinstance(value, SequenceValue):
        return any(map(is_open, value.items))
    return is_open(value.item) if isinstance(value, OptionalValue) else isinstance(value, OpenValue)


def dims_of(value: Value | OpenValue) -> tuple[Dim, ...]:
    """The extents of a tensor."""
    return value.dims if isinstance(value, OpenValue) else value.shape


def open_type(dims: Sequence[Dim], dtype: str) -> TensorType[Any]:
    """The type of a tensor of such extents."""
    return dynamic_tensor([d if isinstance(d, int) else UNNAMED for d in dims], dtype)


def fresh_extent(b: Builder, source: SSAValue, axis: int) -> Extent:
    """The extent of an axis, of which nothing is known."""
    return Extent(source, axis, b.next_draws())


def known_as(ssa: SSAValue, dims: Sequence[Dim], dtype: str, logical: str = "") -> Value | OpenValue:
    """A tensor of an SSA value: an ordinary one where its type tells all."""
    if not is_dynamic(ssa.type):
        return Value(cast("TensorType[Any]", ssa.type).get_shape(), dtype, ssa=ssa, logical=logical)
    return OpenValue(dims, dtype, ssa, logical=logical)


def unknown(b: Builder, ssa: SSAValue, dtype: str, logical: str = "") -> Value | OpenValue:
    """A tensor of an SSA value, its extents being what the type tells and no more."""
    shape = cast("TensorType[Any]", ssa.type).get_shape()
    dims = [e if e >= 0 else fresh_extent(b, ssa, a) for a, e in enumerate(shape)]
    return known_as(ssa, dims, dtype, logical)


def with_draws(ssa: SSAValue, dtype: str, logical: str, columns: Sequence[Draws]) -> Value | OpenValue:
    """A tensor of an SSA value with extents that have these draws."""
    dims: list[Dim] = []
    for axis, column in enumerate(columns):
        known = {c for c in column if c is not None}
        same = len(known) == 1 and None not in column[:GENERIC]
        dims.append(known.pop() if same else Extent(ssa, axis, column))
    shape = cast("TensorType[Any]", ssa.type).get_shape()
    return known_as(ssa, [e if e >= 0 else d for d, e in zip(dims, shape, strict=True)], dtype, logical)


def emit(
    b: Builder, op_type: type[RelayOp], operands: Sequence[Value | OpenValue], attrs: dict[str, Any],
    declared: Sequence[TensorType[Any]] = (),
) -> list[SSAValue]:  # fmt: skip
    """An op on tensors with unknown extents: its results. `declared` are their types where inference cannot tell."""
    values = [b.ssa(o) for o in operands]
    try:
        op = op_type.make(*values, **attrs)
    except TypeMismatch as e:
        if not isinstance(e.__cause__ or e.__context__, Undecided) or not declared:
            raise b.mismatch(str(e).removeprefix(f"{op_type.name}: "), operands) from None
        properties = dict(op_type.defaults()) | {n: to_attribute(a) for n, a in attrs.items() if a is not None}
        op = op_type.create(operands=values, result_types=declared, properties=properties)
    op.location = b.location
    b.block.add_op(op)
    return list(op.results)


def emitted(b: Builder, op_name: str, *operands: Value | OpenValue, **attrs: Any) -> Value | OpenValue:
    """The one result of `relay.<name>`, of which no more is known than its type says."""
    op_type = find_op(f"relay.{op_name}")
    assert op_type is not None
    (ssa,) = emit(b, op_type, operands, attrs)
    return unknown(b, ssa, dtype_name(cast("TensorType[Any]", ssa.type).element_type))


# -- numbers as tensors ----------------------------------------------------------------------------


def _extent(b: Builder, extent: Extent) -> Value:
    """int64[1]"""
    source = OpenValue((), "", extent.source)
    shape = cast(Value, emitted(b, "shape_of", source, dtype="int64"))
    return b.op("strided_slice", shape, begin=[extent.axis], end=[extent.axis + 1])


def number(b: Builder, entry: Entry) -> Value:
    """int64[1]"""
    if isinstance(entry, int):
        return b.constant(np.array([entry], np.int64))
    total: Value | None = None
    for coefficient, extents in entry.terms:
        term: Value | None = None
        for e in extents:
            factor = _extent(b, e)
            term = factor if term is None else b.op("multiply", term, factor)
        assert term is not None
        if coefficient != 1:
            term = b.op("multiply", term, _one(b, coefficient))
        total = term if total is None else b.op("add", total, term)
    assert total is not None
    if entry.constant:
        total = b.op("add", total, _one(b, entry.constant))
    if entry.divisor != 1:
        total = b.op("floor_divide", total, _one(b, entry.divisor))
    if entry.least is not None:
        total = b.op("maximum", total, _one(b, entry.least))
    return total if entry.most is None else b.op("minimum", total, _one(b, entry.most))


def _one(b: Builder, value: int) -> Value:
    return b.constant(np.array([value], np.int64))


def vector(b: Builder, entries: Sequence[Entry]) -> Value:
    """int64[n]"""
    parts: list[Value] = []
    run: list[int] = []
    for entry in [*entries, None]:
        if isinstance(entry, int):
            run.append(entry)
            continue
        if run:
            parts.append(b.constant(np.array(run, np.int64)))
            run = []
        if isinstance(entry, Number):
            parts.append(number(b, entry))
    if not parts:
        return b.constant(np.zeros(0, np.int64))
    return parts[0] if len(parts) == 1 else b.op("concatenate", *parts, axis=0)


def shaped(b: Builder, values: Value, shape: Sequence[int], dtype: str) -> Value:
    """A vector of integers as a tensor of a shape and type."""
    return b.cast(b.reshape(values, tuple(shape)), dtype)
