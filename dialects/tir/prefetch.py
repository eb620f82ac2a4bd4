"""tir.prefetch: memory that will be used soon is asked for ahead of time."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, MemRefType, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import scalar_type
from lamina.dialects.index.accesses import INDEX, parse_access, print_access
from lamina.dialects.index.index_map import IndexMapAttr, IndexSetAttr
from lamina.dialects.index.linear import Linear
from lamina.dialects.tir.memory import AccessOp, type_of


@irdl_op_definition
class PrefetchOp(AccessOp):
    """The cache line of an element: `tir.prefetch %A[%i + 1, 0] locality 3 : memref<8x64xf32>`.

    Changes nothing but the time that later accesses take, so an index beyond the buffer does no harm. `locality` goes
    from 0, used once, to 3, kept in all levels; `write` says that the element will be written.
    """

    name = "tir.prefetch"

    buffer = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    map = prop_def(IndexMapAttr)
    guard = opt_prop_def(IndexSetAttr)
    locality = prop_def(IntegerAttr)
    write = opt_prop_def(UnitAttr)

    # No pass may take it for dead.
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @staticmethod
    def make(buffer: SSAValue, forms: Sequence[Linear], locality: int = 3, write: bool = False) -> PrefetchOp:
        properties: dict[str, Attribute] = {"locality": IntegerAttr(locality, i64)}
        if write:
            properties["write"] = UnitAttr()
        op = PrefetchOp.create(operands=[buffer], properties=properties)
        op.set_access(forms)
        return op

    def value_type(self) -> Attribute:
        return scalar_type(type_of(self.buffer).element_type)

    def verify_(self) -> None:
        super().verify_()
        if not 0 <= self.locality.value.data <= 3:
            raise VerifyException(f"the locality is 0, 1, 2 or 3, not {self.locality.value.data}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.buffer, self.index_operands(), self.index_map(), self.guard_set())
        printer.print_string(" write" if self.write is not None else "")
        printer.print_string(f" locality {self.locality.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        buffer, indices, properties = parse_access(parser)
        if parser.parse_optional_keyword("write"):
            properties["write"] = UnitAttr()
        parser.parse_keyword("locality")
        properties["locality"] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        extra = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isinstance(type_, MemRefType):
            parser.raise_error("tir accesses buffers (memref)")
        types: list[Attribute] = [type_, *[INDEX] * len(indices)]
        operands = parser.resolve_operands([buffer, *indices], types, parser.pos)
        return cls.create(operands=operands, properties=properties, attributes=extra)
