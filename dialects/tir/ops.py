"""The tir dialect: loops over buffers, a compact body to the very end.

    tir.func @f(%X: memref<8xf32>, %y: memref<4xf32>) outputs 1 {
      tir.for %i = 0 to 4 "y.i" {
        tir.for %k = 0 to 2 reduction "y.k" {
          tir.block "y" init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %y[%i] : memref<4xf32>
          } do {
            %acc = tir.load %y[%i] : memref<4xf32>
            %x = tir.load %X[%i * 2 + %k] : memref<8xf32>
            %s = arith.addf %acc, %x : f32
            tir.store %s, %y[%i] : memref<4xf32>
          }
        }
      }
    }

Functions and loops stand here, buffers and accesses in `memory.py`, what `@main` is made of in `calls.py`. Index
arithmetic stays inside the accesses (`lamina.dialects.accesses`). A vector access has the dimension `lane`
in its map. A guard (`where [...]`) makes a load give zero and a store do nothing where a condition fails.
`unrolled` and the memory scope `register` are promises that `tir-to-llvm` keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    VectorType,
    i64,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure, RecursiveMemoryEffect, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.accesses import INDEX, ConditionOpBase, IndexOpBase, over_positions, over_values
from lamina.dialects.index_map import IndexMap, IndexMapAttr, InlineDims, parse_linear, print_indices
from lamina.dialects.linear import Linear, Range
from lamina.dialects.tir.calls import CallOp, CopyOp, ParamOp, ViewOp
from lamina.dialects.tir.memory import SCOPES as SCOPES
from lamina.dialects.tir.memory import AccessOp as AccessOp
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.memory import buffer_type as buffer_type

LoopKind = Literal["serial", "parallel", "unrolled", "vectorized"]
KINDS: tuple[LoopKind, ...] = ("serial", "parallel", "unrolled", "vectorized")

__all__ = [
    "AllocOp",
    "BlockOp",
    "BroadcastOp",
    "CallOp",
    "ConditionOp",
    "CopyOp",
    "ForOp",
    "FuncOp",
    "IndexOp",
    "LoadOp",
    "ParamOp",
    "SelectOp",
    "StoreOp",
    "ViewOp",
]


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A kernel: buffers in, the last `outputs` of them written."""

    name = "tir.func"

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    outputs = prop_def(IntegerAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    @staticmethod
    def make(name: str, arg_types: Sequence[Attribute], outputs: int) -> FuncOp:
        return FuncOp.create(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(list(arg_types), []),
                "outputs": IntegerAttr(outputs, i64),
            },
            regions=[Region(Block(arg_types=arg_types))],
        )

    def verify_(self) -> None:
        if tuple(self.function_type.inputs) != self.body.block.arg_types:
            raise VerifyException("the function type's inputs differ from the body's arguments")
        if not 0 <= self.outputs.value.data <= len(self.body.block.args):
            raise VerifyException(f"{self.outputs.value.data} outputs of {len(self.body.block.args)} arguments")

    def print(self, printer: Printer) -> None:
        extra = {"outputs": self.outputs} | self.attributes
        print_func_op_like(
            printer,
            self.sym_name,
            self.function_type,
            self.body,
            extra,
            reserved_attr_names=("sym_name", "function_type"),
        )

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name, inputs, _, region, extra, _, _ = parse_func_op_like(
            parser, reserved_attr_names=("sym_name", "function_type")
        )
        attributes = dict(extra.data) if extra else {}
        outputs = attributes.pop("outputs", IntegerAttr(1, i64))
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "function_type": FunctionType.from_lists(list(inputs), []),
            "outputs": outputs,
        }
        return cls.create(properties=properties, attributes=attributes, regions=[region])


@irdl_op_definition
class ForOp(IRDLOperation):
    """A loop from 0 to its extent, or to the least of its bounds where that is smaller.

    The axis name is unique in the function. `reduction` says that iterations accumulate into the same element: it
    is declared, since it cannot be read from the accesses once buffers have shrunk to tiles.
    """

    name = "tir.for"

    bounds = var_operand_def(INDEX)
    extent = prop_def(IntegerAttr)
    kind = prop_def(StringAttr)
    axis = prop_def(StringAttr)
    reduction = opt_prop_def(UnitAttr)
    bound_map = opt_prop_def(IndexMapAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    @staticmethod
    def make(
        extent: int,
        axis: str,
        *,
        kind: LoopKind = "serial",
        reduction: bool = False,
        bounds: Sequence[Linear] = (),
        body: Block | None = None,
        hint: str | None = None,
    ) -> ForOp:
        properties: dict[str, Attribute] = {
            "extent": IntegerAttr(extent, i64),
            "kind": StringAttr(kind),
            "axis": StringAttr(axis),
        }
        if reduction:
            properties["reduction"] = UnitAttr()
        operands: list[SSAValue] = []
        if bounds:
            operands, (forms,) = over_positions([bounds])
            properties["bound_map"] = IndexMapAttr(IndexMap(len(operands), forms))
        block = Block(arg_types=[INDEX]) if body is None else body
        if hint:
            block.args[0].name_hint = hint
        return ForOp.create(operands=operands, properties=properties, regions=[Region(block)])

    @property
    def trip(self) -> int:
        return self.extent.value.data

    @property
    def var(self) -> SSAValue:
        return self.body.block.args[0]

    @property
    def is_reduction(self) -> bool:
        return self.reduction is not None

    def min_bounds(self) -> list[Linear]:
        """The forms that also bound the loop."""
        return over_values(self.bound_map.data.results, self.operands) if self.bound_map else []

    def set_min_bounds(self, bounds: Sequence[Linear]) -> None:
        if not bounds:
            self.operands = []
            self.properties.pop("bound_map", None)
            return
        operands, (forms,) = over_positions([bounds])
        self.operands = operands
        self.properties["bound_map"] = IndexMapAttr(IndexMap(len(operands), forms))

    def argument_range(self, index: int) -> Range:
        """The bounds of the loop variable."""
        return 0, max(self.trip - 1, 0)

    def verify_(self) -> None:
        if self.trip < 0:
            raise VerifyException(f"the extent {self.trip} is negative")
        if self.kind.data not in KINDS:
            raise VerifyException(f"unknown loop kind {self.kind.data!r}; it is one of {', '.join(KINDS)}")
        if len(self.body.block.args) != 1 or not isinstance(self.body.block.args[0].type, IndexType):
            raise VerifyException("a loop has one variable of type index")
        dims = self.bound_map.data.dims if self.bound_map else 0
        if dims != len(self.bounds):
            raise VerifyException(f"the bounds have {dims} dimensions, the op {len(self.bounds)} operands")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.enter_scope()
        printer.print_ssa_value(self.var)
        printer.print_string(f" = 0 to {self.trip} ")
        if self.bound_map is not None:
            printer.print_string("min ")
            print_indices(printer, self.bound_map.data, self.bounds)
            printer.print_string(" ")
        if self.kind.data != "serial":
            printer.print_string(f"{self.kind.data} ")
        if self.is_reduction:
            printer.print_string("reduction ")
        printer.print_string_literal(self.axis.data)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.exit_scope()

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        if parser.parse_integer(allow_boolean=False) != 0:
            parser.raise_error("a loop starts at 0; offsets belong into the accesses")
        parser.parse_keyword("to")
        extent = parser.parse_integer(allow_boolean=False, allow_negative=False)
        operands: Sequence[SSAValue] = ()
        properties: dict[str, Attribute] = {"extent": IntegerAttr(extent, i64)}
        if parser.parse_optional_keyword("min"):
            dims = InlineDims(parser)
            results = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_linear(parser, dims))
            operands = parser.resolve_operands(dims.operands, [INDEX] * len(dims.operands), parser.pos)
            properties["bound_map"] = IndexMapAttr(IndexMap(len(operands), tuple(results)))
        kind = "serial"
        for candidate in KINDS[1:]:
            if parser.parse_optional_keyword(candidate):
                kind = candidate
        properties["kind"] = StringAttr(kind)
        if parser.parse_optional_keyword("reduction"):
            properties["reduction"] = UnitAttr()
        properties["axis"] = StringAttr(parser.parse_str_literal("the axis name"))
        extra = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region([argument.resolve(INDEX)])
        return cls.create(
            operands=operands,
            properties=properties,
            attributes=extra.data if extra else {},
            regions=[region],
        )


@irdl_op_definition
class BlockOp(IRDLOperation):
    """One element of a stage. A reduction's `init` runs before the first iteration of its reduction loops."""

    name = "tir.block"

    stage = prop_def(StringAttr)
    init = region_def()
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    @staticmethod
    def make(stage: str, init: Block | None, body: Block) -> BlockOp:
        return BlockOp.create(
            properties={"stage": StringAttr(stage)},
            regions=[Region(init) if init is not None else Region(), Region(body)],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        if self.init.blocks:
            printer.print_string(" init ")
            printer.print_region(self.init)
            printer.print_string(" do ")
        else:
            printer.print_string(" ")
        printer.print_region(self.body)

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        stage = StringAttr(parser.parse_str_literal("the stage's name"))
        init = Region()
        if parser.parse_optional_keyword("init"):
            init = parser.parse_region()
            parser.parse_keyword("do")
        return cls.create(properties={"stage": stage}, regions=[init, parser.parse_region()])


@irdl_op_definition
class BroadcastOp(IRDLOperation):
    """A scalar in every lane: `tir.broadcast %a : f32 to vector<16xf32>`."""

    name = "tir.broadcast"

    value = operand_def()
    result = result_def(VectorType)
    assembly_format = "$value attr-dict `:` type($value) `to` type($result)"
    traits = traits_def(Pure())


@irdl_op_definition
class SelectOp(IRDLOperation):
    """Lane by lane one of two vectors: `tir.select %c, %a, %b : vector<16xi1>, vector<16xf32>`."""

    name = "tir.select"

    condition = operand_def(VectorType)
    then = operand_def(VectorType)
    otherwise = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        if not self.then.type == self.otherwise.type == self.result.type:
            raise VerifyException("both choices and the result have one type")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([self.condition.type, self.result.type], printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        extra = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        condition = parser.parse_type()
        parser.parse_punctuation(",")
        type_ = parser.parse_type()
        resolved = parser.resolve_operands(operands, [condition, type_, type_], parser.pos)
        return cls.create(operands=resolved, attributes=extra, result_types=[type_])


@irdl_op_definition
class IndexOp(IndexOpBase):
    """The value of an index expression; with `lane` in it, a vector of them."""

    name = "tir.index"


@irdl_op_definition
class ConditionOp(ConditionOpBase):
    """Whether all conditions hold; with `lane` in them, a vector of answers."""

    name = "tir.condition"


def enclosing_loops(op: Operation) -> list[ForOp]:
    """The loops around an op, outermost first."""
    found: list[ForOp] = []
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, ForOp):
            found.append(parent)
        parent = parent.parent_op()
    return found[::-1]
