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
arithmetic stays inside the accesses (`lamina.dialects.index.accesses`). A vector access has the dimension `lane`
in its map. A guard (`where [...]`) makes a load give zero and a store do nothing where a condition fails.
`unrolled` and the memory scope `register` are promises that `tir-to-llvm` keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    VectorType,
    i1,
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

from lamina.dialects.fast_ir import next_of, operands_of
from lamina.dialects.index.accesses import INDEX, ConditionOpBase, IndexOpBase, over_positions, over_values
from lamina.dialects.index.index_map import (
    Condition,
    IndexMap,
    IndexMapAttr,
    IndexSetAttr,
    InlineDims,
    parse_linear,
    print_conditions,
    print_indices,
)
from lamina.dialects.index.linear import MAX_EXTENT, Linear, Range, constant
from lamina.dialects.index.sizes import shape_attrs, verify_shapes
from lamina.dialects.region_text import parse_body, print_attributed_body, print_body
from lamina.dialects.tir.calls import CallOp, CopyOp, ParamOp
from lamina.dialects.tir.control import BarrierOp as BarrierOp
from lamina.dialects.tir.control import ConditionalBase, parse_set
from lamina.dialects.tir.control import IfOp as IfOp
from lamina.dialects.tir.memory import SCOPES as SCOPES
from lamina.dialects.tir.memory import AccessOp as AccessOp
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, ViewOp
from lamina.dialects.tir.memory import buffer_type as buffer_type

MAX_TRIP = 1 << 62
"""The iterations of a loop; its variable is a 64-bit number."""
LoopKind = Literal["serial", "parallel", "unrolled", "vectorized", "thread"]
KINDS: tuple[LoopKind, ...] = ("serial", "parallel", "unrolled", "vectorized", "thread")
MASKED_LANES = "pragma_masked_lanes"
"""On a vectorized loop: where it has no power of two of iterations left, the lanes to the next one are idle."""
THREAD_TAGS = (
    *(f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx") for axis in "xyz"),
    *("vthread", "vthread.x", "vthread.y", "vthread.z"),
)
"""The thread axes that a loop can be bound to (TVM's names)."""

__all__ = [
    "AllocOp",
    "BarrierOp",
    "BlockOp",
    "BroadcastOp",
    "CallOp",
    "ConditionOp",
    "CopyOp",
    "ForOp",
    "FuncOp",
    "IfOp",
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
    arg_attrs = opt_prop_def(ArrayAttr)
    outputs = prop_def(IntegerAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    @staticmethod
    def make(
        name: str, arg_types: Sequence[Attribute], outputs: int, shapes: Sequence[IndexMapAttr | None] | None = None
    ) -> FuncOp:
        """A kernel without a body. `shapes` gives the extents of arguments that have an unknown one."""
        func = FuncOp.create(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(list(arg_types), []),
                "outputs": IntegerAttr(outputs, i64),
            },
            regions=[Region(Block(arg_types=arg_types))],
        )
        if shapes is not None and any(s is not None for s in shapes):
            func.properties["arg_attrs"] = shape_attrs(shapes)
        return func

    def argument_range(self, index: int) -> Range:
        """The bounds of a size."""
        return 0, MAX_EXTENT

    def verify_(self) -> None:
        if tuple(self.function_type.inputs) != self.body.block.arg_types:
            raise VerifyException("the function type's inputs differ from the body's arguments")
        for n, type_ in enumerate(self.function_type.inputs):
            if not isinstance(type_, (IndexType, MemRefType)):
                raise VerifyException(f"argument {n} is {type_}; a kernel takes buffers (memref) and sizes (index)")
        if not 0 <= self.outputs.value.data <= len(self.body.block.args):
            raise VerifyException(f"{self.outputs.value.data} outputs of {len(self.body.block.args)} arguments")
        verify_shapes(self.body.block.args, cast("ArrayAttr[DictionaryAttr] | None", self.arg_attrs))

    def print(self, printer: Printer) -> None:
        extra = {"outputs": self.outputs} | self.attributes
        print_func_op_like(
            printer,
            self.sym_name,
            self.function_type,
            self.body,
            extra,
            arg_attrs=cast("ArrayAttr[DictionaryAttr] | None", self.arg_attrs),
            reserved_attr_names=("sym_name", "function_type", "arg_attrs"),
        )

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name, inputs, _, region, extra, arg_attrs, _ = parse_func_op_like(
            parser, reserved_attr_names=("sym_name", "function_type")
        )
        attributes = dict(extra.data) if extra else {}
        outputs = attributes.pop("outputs", IntegerAttr(1, i64))
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "function_type": FunctionType.from_lists(list(inputs), []),
            "outputs": outputs,
        }
        if arg_attrs is not None:
            properties["arg_attrs"] = arg_attrs
        return cls.create(properties=properties, attributes=attributes, regions=[region])


@irdl_op_definition
class ForOp(IRDLOperation):
    """A loop from 0 to its extent, or to the least of its bounds where that is smaller.

    A loop whose extent depends on a size has bounds only: `tir.for %i = 0 to min [%n] "C.i"`. The axis name is unique
    in the function. `reduction` says that iterations accumulate into the same element: it is declared, since it cannot
    be read from the accesses once buffers have shrunk to tiles. A loop of kind `thread` is run by the threads of a GPU
    along the axis that it names: `tir.for %i = 0 to 64 thread "threadIdx.x" "C.i.1"`.
    """

    name = "tir.for"

    bounds = var_operand_def(INDEX)
    extent = prop_def(IntegerAttr)
    kind = prop_def(StringAttr)
    axis = prop_def(StringAttr)
    reduction = opt_prop_def(UnitAttr)
    thread = opt_prop_def(StringAttr)
    bound_map = opt_prop_def(IndexMapAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    @staticmethod
    def make(
        extent: int | None,
        axis: str,
        *,
        kind: LoopKind = "serial",
        reduction: bool = False,
        bounds: Sequence[Linear] = (),
        body: Block | None = None,
        hint: str | None = None,
    ) -> ForOp:
        """A loop; without an extent it runs to the least of its bounds."""
        properties: dict[str, Attribute] = {
            "extent": IntegerAttr(DYNAMIC_INDEX if extent is None else extent, i64),
            "kind": StringAttr(kind),
            "axis": StringAttr(axis),
        }
        if reduction:
            properties["reduction"] = UnitAttr()
        block = Block(arg_types=[INDEX]) if body is None else body
        if hint:
            block.args[0].name_hint = hint
        loop = ForOp.create(properties=properties, regions=[Region(block)])
        if bounds:
            loop.set_min_bounds(bounds)
        return loop

    @staticmethod
    def upto(limits: Sequence[Linear], axis: str, *, reduction: bool = False, hint: str | None = None) -> ForOp:
        """A serial loop to the least of some forms; the constant ones become the extent."""
        return ForOp.make(None, axis, reduction=reduction, bounds=limits, hint=hint)

    @property
    def is_dynamic(self) -> bool:
        """Whether the loop has no constant extent."""
        return self.extent.value.data == DYNAMIC_INDEX

    @property
    def trip(self) -> int:
        """The most iterations that the loop can have."""
        trip = self.extent.value.data
        return MAX_EXTENT if trip == DYNAMIC_INDEX else trip

    @property
    def var(self) -> SSAValue:
        block = self.regions[0].first_block
        assert block is not None
        return block.args[0]

    @property
    def is_unrolled(self) -> bool:
        """Whether its iterations are written out: it is marked so, and their number is known."""
        return self.kind.data == "unrolled" and not self.is_dynamic

    @property
    def is_reduction(self) -> bool:
        return self.reduction is not None

    def min_bounds(self) -> list[Linear]:
        """The forms that also bound the loop."""
        return over_values(self.bound_map.data.results, self.operands) if self.bound_map else []

    def limits(self) -> list[Linear]:
        """The forms whose least is the number of iterations: the constant extent, if there is one, and the bounds."""
        return self.min_bounds() if self.is_dynamic else [constant(self.trip), *self.min_bounds()]

    def set_min_bounds(self, bounds: Sequence[Linear]) -> None:
        """Replace the bounds; those that are numbers become the extent where they are less."""
        known = [b.const for b in bounds if b.is_constant]
        if known:
            extent = max(min(known), 0)
            self.properties["extent"] = IntegerAttr(extent if self.is_dynamic else min(extent, self.trip), i64)
        bounds = [b for b in bounds if not b.is_constant]
        if not bounds:
            if operands_of(self):
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
        if self.extent.value.data < 0 and not self.is_dynamic:
            raise VerifyException(f"the extent {self.trip} is negative")
        if self.extent.value.data > MAX_TRIP:
            raise VerifyException(f"the extent {self.trip} is more than {MAX_TRIP}")
        if self.bound_map is not None and not self.bound_map.data.results:
            raise VerifyException("min has no bounds")
        if self.is_dynamic and not self.bound_map:
            raise VerifyException("a loop has an extent or bounds")
        if self.kind.data not in KINDS:
            raise VerifyException(f"unknown loop kind {self.kind.data!r}; it is one of {', '.join(KINDS)}")
        if (self.kind.data == "thread") != (self.thread is not None):
            raise VerifyException("a loop of kind thread, and no other, names its thread axis")
        if self.thread is not None and self.thread.data not in THREAD_TAGS:
            raise VerifyException(f"unknown thread axis {self.thread.data!r}; it is one of {', '.join(THREAD_TAGS)}")
        if len(self.body.block.args) != 1 or not isinstance(self.body.block.args[0].type, IndexType):
            raise VerifyException("a loop has one variable of type index")
        dims = self.bound_map.data.dims if self.bound_map else 0
        if dims != len(self.bounds):
            raise VerifyException(f"the bounds have {dims} dimensions, the op {len(self.bounds)} operands")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.enter_scope()
        printer.print_ssa_value(self.var)
        printer.print_string(" = 0 to " if self.is_dynamic else f" = 0 to {self.trip} ")
        if self.bound_map is not None:
            printer.print_string("min ")
            print_indices(printer, self.bound_map.data, self.bounds)
            printer.print_string(" ")
        if self.kind.data != "serial":
            printer.print_string(f"{self.kind.data} ")
        if self.thread is not None:
            printer.print_string_literal(self.thread.data)
            printer.print_string(" ")
        if self.is_reduction:
            printer.print_string("reduction ")
        printer.print_string_literal(self.axis.data)
        print_attributed_body(printer, self.attributes, self.body)
        printer.exit_scope()

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        if parser.parse_integer(allow_boolean=False) != 0:
            parser.raise_error("a loop starts at 0; offsets belong into the accesses")
        parser.parse_keyword("to")
        extent = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        operands: Sequence[SSAValue] = ()
        properties: dict[str, Attribute] = {"extent": IntegerAttr(DYNAMIC_INDEX if extent is None else extent, i64)}
        if parser.parse_optional_keyword("min"):
            dims = InlineDims(parser)
            results = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_linear(parser, dims))
            (forms,) = dims.settle(results)
            operands = parser.resolve_operands(dims.operands, [INDEX] * len(dims.operands), parser.pos)
            properties["bound_map"] = IndexMapAttr(IndexMap(len(operands), forms))
        elif extent is None:
            parser.raise_error("a loop goes to a number or to `min` of its bounds")
        kind = "serial"
        for candidate in KINDS[1:]:
            if parser.parse_optional_keyword(candidate):
                kind = candidate
        properties["kind"] = StringAttr(kind)
        if kind == "thread":
            properties["thread"] = StringAttr(parser.parse_str_literal("the thread axis"))
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
class BlockOp(ConditionalBase):
    """One element of a stage. A reduction's `init` runs before the first iteration of its reduction loops.

    Where a condition of the predicate (`tir.block "C" where [%n - %i - 1 >= 0] { ... }`) fails, neither runs.
    """

    name = "tir.block"

    dims = var_operand_def(INDEX)
    stage = prop_def(StringAttr)
    set = opt_prop_def(IndexSetAttr)
    init = region_def()
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    @staticmethod
    def make(stage: str, init: Block | None, body: Block, predicate: Sequence[Condition] = ()) -> BlockOp:
        op = BlockOp.create(
            properties={"stage": StringAttr(stage)},
            regions=[Region(init) if init is not None else Region(), Region(body)],
        )
        op.set_conditions(predicate)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        if self.set is not None:
            printer.print_string(" where ")
            print_conditions(printer, self.set.data, self.dims)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        if self.init.blocks:
            printer.print_string(" init ")
            print_body(printer, self.init)
            printer.print_string(" do ")
        else:
            printer.print_string(" ")
        print_body(printer, self.body)

    @classmethod
    def parse(cls, parser: Parser) -> BlockOp:
        properties: dict[str, Attribute] = {"stage": StringAttr(parser.parse_str_literal("the stage's name"))}
        operands: Sequence[SSAValue] = ()
        if parser.parse_optional_keyword("where"):
            operands, properties["set"] = parse_set(parser)
        extra = parser.parse_optional_attr_dict_with_keyword()
        init = Region()
        if parser.parse_optional_keyword("init"):
            init = parse_body(parser)
            parser.parse_keyword("do")
        return cls.create(
            operands=operands,
            properties=properties,
            attributes=extra.data if extra else {},
            regions=[init, parse_body(parser)],
        )


def loops_and_blocks(func: FuncOp) -> list[Operation]:
    """The loops, blocks and conditions of a function, in program order; what stands in them is passed over.

    Schedule primitives look for a stage's block or an axis name many times: `walk` visits each op through three
    generators, which takes twenty times as long.
    """
    found: list[Operation] = []
    stack: list[Operation] = [func]
    while stack:
        op = stack.pop()
        found.append(op)
        inner: list[Operation] = []
        for region in op.regions:
            block = region.first_block
            if block is not None:
                child = block.first_op
                while child is not None:
                    if child.regions:
                        inner.append(child)
                    child = next_of(child)
        stack += reversed(inner)
    return found[1:]


@irdl_op_definition
class BroadcastOp(IRDLOperation):
    """A scalar in every lane: `tir.broadcast %a : f32 to vector<16xf32>`."""

    name = "tir.broadcast"

    value = operand_def()
    result = result_def(VectorType)
    assembly_format = "$value attr-dict `:` type($value) `to` type($result)"
    traits = traits_def(Pure())

    def verify_(self) -> None:
        if self.result.type.element_type != self.value.type:
            raise VerifyException(f"{self.value.type} in the lanes of {self.result.type}")


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
        bits = VectorType(i1, self.result.type.get_shape())
        if self.condition.type != bits:
            raise VerifyException(f"the condition is {self.condition.type}; a choice for each lane is {bits}")

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
    while parent is not None and type(parent) is not FuncOp:
        if type(parent) is ForOp:
            found.append(parent)
        parent = parent.parent_op()
    return found[::-1]
