"""Host code that starts kernels of a device."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.index.accesses import INDEX, over_positions, over_values
from lamina.dialects.index.index_map import IndexMap, IndexMapAttr, InlineDims, parse_linear, print_indices
from lamina.dialects.index.linear import Linear

DEVICE = "device"
"""The attribute of a tir.func that runs on the device: its loops of kind thread are the threads of a launch."""


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """Starts a kernel on a grid of blocks of threads, extents along x, y and z; with an extent of 0 nothing runs.

    `tir.launch @f_kernel0 grid [(%n + 63) floordiv 64] block [64] (%n, %A, %y) : index, memref<?xf32>, memref<?xf32>`
    """

    name = "tir.launch"

    dims = var_operand_def(INDEX)
    arguments = var_operand_def(IndexType | MemRefType)
    callee = prop_def(SymbolRefAttr)
    map = prop_def(IndexMapAttr)
    grid_rank = prop_def(IntegerAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @staticmethod
    def make(callee: str, grid: Sequence[Linear], block: Sequence[Linear], arguments: Sequence[SSAValue]) -> LaunchOp:
        """A launch; `grid` and `block` have one to three extents each."""
        values, (forms,) = over_positions([[*grid, *block]])
        return LaunchOp.build(
            operands=[values, list(arguments)],
            properties={
                "callee": SymbolRefAttr(StringAttr(callee)),
                "map": IndexMapAttr(IndexMap(len(values), forms)),
                "grid_rank": IntegerAttr(len(grid), i64),
            },
        )

    def grid_extents(self) -> list[Linear]:
        """The number of blocks along x, y and z."""
        return self._extents()[: self.grid_rank.value.data]

    def block_extents(self) -> list[Linear]:
        """The number of threads of a block along x, y and z."""
        return self._extents()[self.grid_rank.value.data :]

    def _extents(self) -> list[Linear]:
        return over_values(self.map.data.results, self.dims)

    def verify_(self) -> None:
        rank = self.grid_rank.value.data
        if not 1 <= rank <= 3 or not 1 <= len(self.map.data.results) - rank <= 3:
            raise VerifyException("a grid and a block have one to three extents")
        if self.map.data.dims != len(self.dims):
            raise VerifyException(f"the extents have {self.map.data.dims} dimensions, the op {len(self.dims)} operands")

    def print(self, printer: Printer) -> None:
        dims, results = self.map.data
        rank = self.grid_rank.value.data
        printer.print_string(" ")
        printer.print_symbol_name(self.callee.root_reference.data)
        printer.print_string(" grid ")
        print_indices(printer, IndexMap(dims, results[:rank]), self.dims)
        printer.print_string(" block ")
        print_indices(printer, IndexMap(dims, results[rank:]), self.dims)
        printer.print_string(" (")
        printer.print_list(self.arguments, printer.print_ssa_value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([a.type for a in self.arguments], printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> LaunchOp:
        callee = parser.parse_symbol_name()
        found = InlineDims(parser)

        def extents(word: str) -> list[Linear]:
            parser.parse_keyword(word)
            return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_linear(parser, found))

        grid, block = found.settle(extents("grid"), extents("block"))
        unresolved: list[UnresolvedOperand] = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        extra = parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":"):
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        values = parser.resolve_operands(found.operands, [INDEX] * len(found.operands), parser.pos)
        return cls.build(
            operands=[values, parser.resolve_operands(unresolved, types, parser.pos)],
            properties={
                "callee": SymbolRefAttr(callee),
                "map": IndexMapAttr(IndexMap(len(values), (*grid, *block))),
                "grid_rank": IntegerAttr(len(grid), i64),
            },
            attributes=extra,
        )
