"""Buffers and what reads and writes them. An access holds its index arithmetic and its guard."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from functools import cache
from math import gcd
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, NoneAttr, StringAttr, VectorType, i64
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.declarations import Declared
from lamina.dialects.dtypes import dtype_name, itemsize, scalar_type
from lamina.dialects.fast_ir import operands_of
from lamina.dialects.index.accesses import INDEX, over_positions, over_values, parse_access, print_access, verify_access
from lamina.dialects.index.index_map import (
    LANE,
    Condition,
    IndexMap,
    IndexMapAttr,
    IndexSet,
    IndexSetAttr,
    InlineDims,
    parse_linear,
    print_indices,
)
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.index.sizes import ArgAttrs, argument_extents, verify_storage
from lamina.dialects.value_names import value_name

if TYPE_CHECKING:
    from xdsl.ir import OpResult

SCOPES = ("global", "register", "shared", "local")
"""Places of a buffer: in memory that all see, in SSA values, in the memory of a block of threads, of one thread."""


def type_of(buffer: SSAValue) -> MemRefType[Attribute]:
    """The type of a buffer."""
    type_ = buffer.type
    assert isinstance(type_, MemRefType)
    return cast("MemRefType[Attribute]", type_)


def buffer_type(shape: Sequence[int], element_type: Attribute) -> MemRefType:
    """A dense row-major buffer."""
    return _buffer_type(tuple(shape), element_type)


@cache
def _buffer_type(shape: tuple[int, ...], element_type: Attribute) -> MemRefType:
    """Shared between equal requests: to make one costs as much as three ops."""
    return MemRefType(element_type, shape, NoneAttr(), NoneAttr())


class SizedBuffer:
    """A part of ops that give a buffer: where an extent is not known all are given, `[%n * 2, 4]`."""

    if TYPE_CHECKING:  # an op's fields are its own declarations
        sizes: Sequence[SSAValue]
        size_map: IndexMapAttr | None
        result: OpResult[MemRefType]

    def extents(self) -> list[Linear]:
        """The extent of each dimension."""
        if self.size_map is not None:
            return over_values(self.size_map.data.results, self.sizes)
        return [constant(e) for e in self.result.type.get_shape()]

    def verify_sizes(self) -> None:
        """Raises VerifyException for sizes that do not go with the type."""
        shape = self.result.type.get_shape()
        if (DYNAMIC_INDEX in shape) != (self.size_map is not None):
            raise VerifyException("sizes are given where an extent is unknown, and nowhere else")
        if self.size_map is None:
            return
        if self.size_map.data.dims != len(self.sizes) or len(self.size_map.data.results) != len(shape):
            raise VerifyException(f"{len(self.size_map.data.results)} sizes for rank {len(shape)}")
        for form, extent in zip(self.size_map.data.results, shape, strict=True):
            if extent != DYNAMIC_INDEX and form != constant(extent):
                raise VerifyException(f"the size {form} of an extent that is {extent}")

    def print_sizes(self, printer: Printer) -> None:
        """Print the sizes, where there are some."""
        if self.size_map is not None:
            printer.print_string(" ")
            print_indices(printer, self.size_map.data, self.sizes)


def size_operands(
    type_: MemRefType, extents: Sequence[Linear] | None, properties: dict[str, Attribute]
) -> Sequence[SSAValue]:
    """The operands for the sizes of a buffer of this type, none where all its extents are known; adds the property."""
    if extents is None or DYNAMIC_INDEX not in type_.get_shape():
        return []
    values, (forms,) = over_positions([extents])
    properties["size_map"] = IndexMapAttr(IndexMap(len(values), forms))
    return values


def parse_sizes(parser: Parser, properties: dict[str, Attribute]) -> Sequence[SSAValue]:
    """The operands for the sizes that a text has, none where it has none; adds the property."""
    dims = InlineDims(parser)
    sizes = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_linear(parser, dims))
    (forms,) = dims.settle(sizes or ())
    operands = parser.resolve_operands(dims.operands, [INDEX] * len(dims.operands), parser.pos)
    if sizes is not None:
        properties["size_map"] = IndexMapAttr(IndexMap(len(operands), forms))
    return operands


@irdl_op_definition
class AllocOp(SizedBuffer, IRDLOperation):
    """A buffer that lives in the enclosing block: `tir.alloc "acc" scope "register" : memref<2x16xf32>`.

    Where an extent is not known, all are given: `tir.alloc "B" scope "global" [%n * 2, 4] : memref<?x4xf32>`.
    """

    name = "tir.alloc"

    sizes = var_operand_def(INDEX)
    stage = prop_def(StringAttr)
    scope = prop_def(StringAttr)
    size_map = opt_prop_def(IndexMapAttr)
    result = result_def(MemRefType)

    traits = traits_def(MemoryAllocEffect())

    @staticmethod
    def make(stage: str, type_: MemRefType, scope: str = "global", extents: Sequence[Linear] | None = None) -> AllocOp:
        """A buffer; its extents are needed where the type has an unknown one."""
        properties: dict[str, Attribute] = {"stage": StringAttr(stage), "scope": StringAttr(scope)}
        values = size_operands(type_, extents, properties)
        op = AllocOp.create(operands=values, properties=properties, result_types=[type_])
        op.result.name_hint = value_name(stage)
        return op

    def set_extents(self, extents: Sequence[Linear]) -> None:
        """Replace the sizes of a buffer of unknown extents; its type stays."""
        values, (forms,) = over_positions([extents])
        self.operands = values
        self.properties["size_map"] = IndexMapAttr(IndexMap(len(values), forms))

    def verify_(self) -> None:
        if self.scope.data not in SCOPES:
            raise VerifyException(f"unknown memory scope {self.scope.data!r}; it is one of {', '.join(SCOPES)}")
        verify_storage(self.result.type, f"buffer {self.stage.data!r}")
        self.verify_sizes()

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" scope ")
        printer.print_string_literal(self.scope.data)
        self.print_sizes(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> AllocOp:
        properties: dict[str, Attribute] = {"stage": StringAttr(parser.parse_str_literal("the stage's name"))}
        parser.parse_keyword("scope")
        properties["scope"] = StringAttr(parser.parse_str_literal("the memory scope"))
        operands = parse_sizes(parser, properties)
        extra = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        return cls.create(operands=operands, properties=properties, attributes=extra, result_types=[type_])


@irdl_op_definition
class ViewOp(SizedBuffer, IRDLOperation):
    """A buffer in an arena: `tir.view %arena[4096] : memref<65536xi8> to memref<64xf32>`.

    The offset counts along the arena's first dimension: bytes where that is its only one. Where an extent of the buffer
    is not known, all are given: `tir.view %arena[64] [%n, 16] : memref<128x?xi8> to memref<?x16xf32>`.
    """

    name = "tir.view"

    arena = operand_def(MemRefType)
    sizes = var_operand_def(INDEX)
    offset = prop_def(IntegerAttr)
    size_map = opt_prop_def(IndexMapAttr)
    result = result_def(MemRefType)
    traits = traits_def(Pure())

    @staticmethod
    def make(arena: SSAValue, offset: int, type_: MemRefType, extents: Sequence[Linear] | None = None) -> ViewOp:
        """A buffer; its extents are needed where the type has an unknown one."""
        properties: dict[str, Attribute] = {"offset": IntegerAttr(offset, i64)}
        values = size_operands(type_, extents, properties)
        return ViewOp.create(operands=[arena, *values], properties=properties, result_types=[type_])

    def verify_(self) -> None:
        self.verify_sizes()

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.arena)
        printer.print_string(f"[{self.offset.value.data}]")
        self.print_sizes(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.arena.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> ViewOp:
        arena = parser.parse_unresolved_operand()
        parser.parse_punctuation("[")
        offset = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation("]")
        properties: dict[str, Attribute] = {"offset": IntegerAttr(offset, i64)}
        sizes = parse_sizes(parser, properties)
        extra = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        arena_type = parser.parse_type()
        parser.parse_keyword("to")
        operands = [parser.resolve_operand(arena, arena_type), *sizes]
        types = [parser.parse_type()]
        return cls.create(operands=operands, properties=properties, attributes=extra, result_types=types)


def extents_of(buffer: SSAValue) -> list[Linear]:
    """The extent of each dimension of a buffer: numbers, or forms over the function's sizes."""
    shape = type_of(buffer).get_shape()
    if DYNAMIC_INDEX not in shape:
        return [constant(e) for e in shape]
    owner = buffer.owner
    if isinstance(owner, (AllocOp, ViewOp)):
        return owner.extents()
    assert isinstance(buffer, BlockArgument)
    func = buffer.block.parent_op()
    assert func is not None
    return argument_extents(buffer, cast("ArgAttrs", func.properties.get("arg_attrs")))


def multiple_of(buffer: SizedBuffer) -> tuple[int, list[Linear]]:
    """The size of a buffer as a multiple of unknown extents, each without its common factor: bytes, and these."""
    factor, unit = itemsize(dtype_name(buffer.result.type.element_type)), list[Linear]()
    for extent in buffer.extents():
        common = extent.const if extent.is_constant else gcd(extent.const, *extent.terms.values())
        factor *= common
        if not extent.is_constant:
            unit.append(Linear({a: c // common for a, c in extent.terms.items()}, extent.const // common))
    return factor, unit


def shape_with(extents: Sequence[Linear]) -> list[int]:
    """The shape of a buffer of these extents: DYNAMIC_INDEX for one that is no number."""
    return [e.const if e.is_constant else DYNAMIC_INDEX for e in extents]


class AccessOp(IRDLOperation, Declared):
    """The base of loads and stores: operands are (the value,) the buffer, then the index operands."""

    def buffer_position(self) -> int:
        return 0

    def buffer_value(self) -> SSAValue:
        return operands_of(self)[self.buffer_position()]

    def index_operands(self) -> Sequence[SSAValue]:
        return operands_of(self)[self.buffer_position() + 1 :]

    def index_map(self) -> IndexMap:
        """The index of each dimension over the positions of the index operands."""
        return cast("IndexMapAttr", self.properties["map"]).data

    def guard_set(self) -> IndexSet | None:
        """The guard over the positions of the index operands."""
        guard = self.properties.get("guard")
        return guard.data if isinstance(guard, IndexSetAttr) else None

    def forms(self) -> list[Linear]:
        """The index of each dimension over SSA values. They are made once for the same map and operands."""
        map_, operands = self.properties["map"], operands_of(self)
        known: tuple[Attribute, object, list[Linear]] | None = vars(self).get("_forms")
        if known is None or known[0] is not map_ or known[1] is not operands:
            forms = over_values(cast("IndexMapAttr", map_).data.results, operands[self.buffer_position() + 1 :])
            vars(self)["_forms"] = known = map_, operands, forms
        return list(known[2])

    def conditions(self) -> list[Condition]:
        """The guard over SSA values."""
        guard = self.guard_set()
        if guard is None:
            return []
        conditions = guard.conditions
        forms = over_values([c.form for c in conditions], self.index_operands())
        return [Condition(f, c.equal) for f, c in zip(forms, conditions, strict=True)]

    def set_access(self, forms: Sequence[Linear], conditions: Sequence[Condition] = ()) -> None:
        """Replace indices and guard."""
        values, (indices, guards) = over_positions([forms, [c.form for c in conditions]])
        self.operands = [*operands_of(self)[: self.buffer_position() + 1], *values]
        self.properties["map"] = IndexMapAttr(IndexMap(len(values), indices))
        self.properties.pop("guard", None)
        if conditions:
            set_ = tuple(Condition(g, c.equal) for g, c in zip(guards, conditions, strict=True))
            self.properties["guard"] = IndexSetAttr(IndexSet(len(values), set_))

    @abc.abstractmethod
    def value_type(self) -> Attribute:
        """The type of what is read or written: an element, or a vector of them."""

    @property
    def lanes(self) -> int | None:
        type_ = self.value_type()
        return type_.get_shape()[0] if isinstance(type_, VectorType) else None

    def verify_(self) -> None:
        type_ = self.buffer_value().type
        if not isinstance(type_, MemRefType):
            raise VerifyException(f"accesses {type_}, not a buffer")
        buffer = type_of(self.buffer_value())
        verify_access(self.index_map(), self.guard_set(), len(self.index_operands()), buffer.get_num_dims())
        element = scalar_type(buffer.element_type)
        value = self.value_type()
        if value != element and not (
            isinstance(value, VectorType) and cast("VectorType[Attribute]", value).element_type == element
        ):
            raise VerifyException(f"accesses {value} in {type_}")
        if isinstance(value, VectorType):
            if len(value.get_shape()) != 1 or value.get_shape()[0] < 1 or value.get_num_scalable_dims():
                raise VerifyException(f"accesses {value}; a vector has one dimension of at least one lane")
        elif LANE in {d for f in self.index_map().results for d in f.dims()}:
            raise VerifyException(f"the dimension {LANE} in an access of one element; name the vector's type")

    def print_access(self, printer: Printer) -> None:
        buffer = self.buffer_value()
        print_access(printer, buffer, self.index_operands(), self.index_map(), self.guard_set())
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(buffer.type)
        if self.lanes is not None:
            printer.print_string(", ")
            printer.print_attribute(self.value_type())


def _parse_access_types(parser: Parser) -> tuple[dict[str, Attribute], Attribute, Attribute]:
    extra = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    if not isinstance(type_, MemRefType):
        parser.raise_error("tir accesses buffers (memref)")
    buffer = cast("MemRefType[Attribute]", type_)
    if parser.parse_optional_punctuation(","):
        return extra, buffer, parser.parse_type()
    return extra, buffer, scalar_type(buffer.element_type)


@irdl_op_definition
class LoadOp(AccessOp):
    """An element, or `lanes` of them: `tir.load %W[%k * 16 + lane] : memref<64xf32>, vector<16xf32>`."""

    name = "tir.load"

    buffer = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    map = prop_def(IndexMapAttr)
    guard = opt_prop_def(IndexSetAttr)
    result = result_def()

    traits = traits_def(MemoryReadEffect())

    @staticmethod
    def make(
        buffer: SSAValue,
        forms: Sequence[Linear],
        conditions: Sequence[Condition] = (),
        result_type: Attribute | None = None,
    ) -> LoadOp:
        type_ = result_type or scalar_type(type_of(buffer).element_type)
        op = LoadOp.create(operands=[buffer], result_types=[type_])
        op.set_access(forms, conditions)
        return op

    def value_type(self) -> Attribute:
        return self.results[0].type

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.print_access(printer)

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        buffer, indices, properties = parse_access(parser)
        extra, buffer_type, value_type = _parse_access_types(parser)
        operands = parser.resolve_operands([buffer, *indices], [buffer_type, *[INDEX] * len(indices)], parser.pos)
        return cls.create(operands=operands, properties=properties, attributes=extra, result_types=[value_type])


@irdl_op_definition
class StoreOp(AccessOp):
    """Writes an element or a vector: `tir.store %v, %Y[%i] where [%i * -1 + 9 >= 0] : memref<10xf32>`."""

    name = "tir.store"

    value = operand_def()
    buffer = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    map = prop_def(IndexMapAttr)
    guard = opt_prop_def(IndexSetAttr)

    traits = traits_def(MemoryWriteEffect())

    @staticmethod
    def make(
        value: SSAValue, buffer: SSAValue, forms: Sequence[Linear], conditions: Sequence[Condition] = ()
    ) -> StoreOp:
        op = StoreOp.create(operands=[value, buffer])
        op.set_access(forms, conditions)
        return op

    def buffer_position(self) -> int:
        return 1

    def value_type(self) -> Attribute:
        return self.operands[0].type

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        self.print_access(printer)

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer, indices, properties = parse_access(parser)
        extra, buffer_type, value_type = _parse_access_types(parser)
        operands = parser.resolve_operands(
            [value, buffer, *indices], [value_type, buffer_type, *[INDEX] * len(indices)], parser.pos
        )
        return cls.create(operands=operands, properties=properties, attributes=extra)
