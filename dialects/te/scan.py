"""te.scan: tensors along a time axis, each time computed from earlier ones.

    %s = te.scan "s" [16] (%t) (%state = %first) : (tensor<1x4xf32>) -> tensor<16x4xf32> {
      %next = te.compute "s.update" [4] (%i) : tensor<4xf32> {
        %before = te.read %state[%t - 1, %i] : tensor<16x4xf32>
        %x = te.read %X[%t, %i] : tensor<16x4xf32>
        %sum = arith.addf %before, %x : f32
        te.yield %sum : f32
      }
      te.yield %next : tensor<4xf32>
    }

The first dimension of each state is time. Its first entries are the initial tensors; then the body runs for each
later time `%t`, in order, and gives the states' slices at `%t`. It reads states only at earlier times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, StringAttr, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.index.accesses import RangeCache, over_positions, over_values
from lamina.dialects.index.index_map import IndexMap, IndexMapAttr, InlineDims, parse_linear, print_indices
from lamina.dialects.index.linear import MAX_EXTENT, Linear, Range
from lamina.dialects.region_text import parse_bindings, parse_types, print_bindings, print_body, print_signature
from lamina.dialects.te.ops import ComputeOp, ReadOp, YieldOp

__all__ = ["ScanOp"]


@irdl_op_definition
class ScanOp(IRDLOperation):
    """Tensors along a time axis: the initial slices, then for each later time what the body computes of earlier ones.

    `te.scan "s" [16] (%t) (%state = %first) : (tensor<1x4xf32>) -> tensor<16x4xf32> { ... te.yield %slice : ... }`
    """

    name = "te.scan"

    sizes = var_operand_def(IndexType)
    inits = var_operand_def(TensorType)
    stage = prop_def(StringAttr)
    time = prop_def(IndexMapAttr)
    body = region_def("single_block")
    tensors = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    @staticmethod
    def make(
        stage: str, time: Linear, inits: Sequence[SSAValue], result_types: Sequence[Attribute], body: Block
    ) -> ScanOp:
        """A scan of `time` entries. The body's arguments are the time, then each state."""
        sizes, (forms,) = over_positions([[time]])
        return ScanOp.build(
            operands=[sizes, list(inits)],
            properties={"stage": StringAttr(stage), "time": IndexMapAttr(IndexMap(len(sizes), forms))},
            result_types=[list(result_types)],
            regions=[Region(body)],
        )

    @property
    def var(self) -> BlockArgument:
        """The time."""
        return self.body.block.args[0]

    @property
    def states(self) -> Sequence[BlockArgument]:
        """The states as the body reads them."""
        return self.body.block.args[1:]

    @property
    def first(self) -> int:
        """The first time that the body computes."""
        return cast("TensorType[Attribute]", self.inits[0].type).get_shape()[0]

    @property
    def slices(self) -> Sequence[SSAValue]:
        """The values of the body for its time, one tensor for each state."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last.values

    def extent(self) -> Linear:
        """The number of times, the initial ones included."""
        (form,) = over_values(self.time.data.results, self.sizes)
        return form

    def extents(self) -> list[list[Linear]]:
        """The extents of each result."""
        found: list[list[Linear]] = []
        for value in self.slices:
            compute = value.owner
            assert isinstance(compute, ComputeOp)
            found.append([self.extent(), *compute.extents()[: len(compute.spatial)]])
        return found

    def argument_range(self, index: int) -> Range:
        """The bounds of the time."""
        extent = self.extent()
        return self.first, max(extent.const - 1, self.first) if extent.is_constant else MAX_EXTENT - 1

    # -- what a scan must be --

    def verify_(self) -> None:
        args = self.body.block.args
        if not self.tensors:
            raise VerifyException("a scan has at least one state")
        if not len(self.inits) == len(self.tensors) == len(args) - 1:
            raise VerifyException(
                f"{len(self.inits)} initial tensors, {max(len(args) - 1, 0)} states and {len(self.tensors)} results"
            )
        if not isinstance(args[0].type, IndexType):
            raise VerifyException("the time is of type index")
        if self.time.data.dims != len(self.sizes) or len(self.time.data.results) != 1:
            raise VerifyException("the number of times is one form of the sizes")
        if tuple(self.result_types) != tuple(a.type for a in args[1:]):
            raise VerifyException("the states of the body differ from the results")
        for init, result in zip(self.inits, self.result_types, strict=True):
            self._verify_init(init.type, cast("TensorType[Attribute]", result))
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the body ends without te.yield")
        if len(last.values) != len(self.tensors):
            raise VerifyException(f"te.yield gives {len(last.values)} slices for {len(self.tensors)} states")
        for value, result in zip(last.values, self.result_types, strict=True):
            state = cast("TensorType[Attribute]", result)
            if not isinstance(value.owner, ComputeOp) or value.owner.parent is not self.body.block:
                raise VerifyException("te.yield gives what a te.compute of the body computes")
            if value.type != TensorType(state.element_type, state.get_shape()[1:]):
                raise VerifyException(f"te.yield gives {value.type} as a slice of {state}")
        for op in self.body.block.ops:
            if op is not last and not isinstance(op, ComputeOp):
                raise VerifyException(f"{op.name} cannot stand in a te.scan")
        for state in self.states:
            self._verify_reads(state)

    def _verify_init(self, init: Attribute, result: TensorType[Attribute]) -> None:
        shape, known = result.get_shape(), cast("TensorType[Attribute]", init).get_shape()
        extent = self.extent()
        if not shape or shape[0] != (extent.const if extent.is_constant else DYNAMIC_INDEX):
            raise VerifyException(f"the first dimension of {result} is not the scan's time, {_text(extent)}")
        if not known or known[0] in (0, DYNAMIC_INDEX) or known[0] != self.first:
            raise VerifyException(f"{init} does not begin a state: all begin with the same number of times, at least 1")
        if init != TensorType(result.element_type, [known[0], *shape[1:]]):
            raise VerifyException(f"{init} cannot begin {result}")
        if extent.is_constant and extent.const < self.first:
            raise VerifyException(f"{self.first} initial times of a scan of {extent.const}")

    def _verify_reads(self, state: BlockArgument) -> None:
        """A state is read at times that the scan has computed."""
        ranges = RangeCache()
        for use in state.uses:
            read = use.operation
            if not isinstance(read, ReadOp):
                raise VerifyException(f"{_name(state)} is a state, which only te.read may use, not {read.name}")
            if len(read.map.data.results) != len(cast("TensorType[Attribute]", state.type).get_shape()):
                continue  # te.read's own verifier says so
            place = over_values(read.map.data.results[:1], read.indices)[0]
            ahead = (Linear.dim(self.var) - 1 - place).range(ranges)
            if ahead is None or ahead[0] < 0:
                raise VerifyException(
                    f"the state {_name(state)} is read at time {_text(place)}; only times before {_name(self.var)} are "
                    f"computed, such as {_name(self.var)} - 1"
                )

    # -- text --

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" ")
        print_indices(printer, self.time.data, self.sizes)
        # The time and the states belong to the body; the initial tensors are printed outside its scope.
        inits: list[SSAValue] = list(self.inits)
        printer.print_string(" (")
        printer.enter_scope()
        printer.print_ssa_value(self.var)
        printer.print_string(") ")
        print_bindings(printer, self.states, inits)
        print_signature(printer, [v.type for v in inits], self.result_types, self.attributes)
        print_body(printer, self.body)
        printer.exit_scope()

    @classmethod
    def parse(cls, parser: Parser) -> ScanOp:
        stage = parser.parse_str_literal("the scan's name")
        dims = InlineDims(parser)
        parser.parse_punctuation("[")
        ((time,),) = dims.settle([parse_linear(parser, dims)])
        parser.parse_punctuation("]")
        sizes = parser.resolve_operands(dims.operands, [IndexType()] * len(dims.operands), parser.pos)
        parser.parse_punctuation("(")
        variable = parser.parse_argument(expect_type=False)
        parser.parse_punctuation(")")
        bindings = parse_bindings(parser)
        in_types, out_types = parse_types(parser)
        if len(out_types) != len(bindings):
            parser.raise_error(f"{len(bindings)} states, but {len(out_types)} results")
        inits = parser.resolve_operands([init for _, init in bindings], in_types, parser.pos)
        extra = parser.parse_optional_attr_dict_with_keyword()
        states = [state.resolve(t) for (state, _), t in zip(bindings, out_types, strict=True)]
        body = parser.parse_region([variable.resolve(IndexType()), *states])
        op = cls.build(
            operands=[sizes, inits],
            properties={"stage": StringAttr(stage), "time": IndexMapAttr(IndexMap(len(sizes), (time,)))},
            result_types=[out_types],
            regions=[body],
        )
        op.attributes = dict(extra.data) if extra else {}
        return op


def _name(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "it"


def _text(form: Linear) -> str:
    from lamina.dialects.index.linear import linear_text

    return linear_text(form, lambda d: _name(d) if isinstance(d, SSAValue) else str(d))
