"""te.extern: tensors that a piece of tir computes, for what no index equation says.

    %y = te.extern "reverse" (%x = %X) -> (%out) : (tensor<8xf32>) -> tensor<8xf32> {
      tir.for %i = 0 to 8 "i" {
        %v = tir.load %x[%i] : memref<8xf32>
        tir.store %v, %out[%i * -1 + 7] : memref<8xf32>
      }
    }

The region sees its inputs and outputs as buffers, and the sizes of the function; it writes every element of its
outputs and nothing else. A result with an unknown extent says what its extents are: `-> (%out [%n, 4])`. Stages
around it are scheduled as ever; the extern itself is opaque to the schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, NoneAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.index.accesses import over_positions, over_values
from lamina.dialects.index.index_map import IndexMap, IndexMapAttr, InlineDims, parse_linear, print_indices
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.region_text import parse_bindings, parse_types, print_bindings, print_body, print_signature

__all__ = ["ExternOp"]

_FOREIGN = ("tir.func", "tir.call", "tir.param", "tir.view")
"""Ops that belong to functions and to `@main`."""


def buffer_of(type_: Attribute) -> MemRefType:
    """The type of the buffer that holds a tensor."""
    tensor = cast("TensorType[Attribute]", type_)
    return MemRefType(tensor.element_type, tensor.get_shape(), NoneAttr(), NoneAttr())


@irdl_op_definition
class ExternOp(IRDLOperation):
    """Tensors that a piece of tir computes into buffers: `te.extern "f" (%a = %A) -> (%o) : (...) -> ... { ... }`."""

    name = "te.extern"

    sizes = var_operand_def(IndexType)
    inputs = var_operand_def(TensorType)
    stage = prop_def(StringAttr)
    size_map = opt_prop_def(IndexMapAttr)
    body = region_def("single_block")
    tensors = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), NoTerminator())

    @staticmethod
    def make(
        stage: str,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        body: Block,
        extents: Sequence[Sequence[Linear]] | None = None,
    ) -> ExternOp:
        """An extern; `extents` gives the extents of the results where one of them is no number."""
        sizes: list[SSAValue] = []
        properties: dict[str, Attribute] = {"stage": StringAttr(stage)}
        if extents is not None and any(not e.is_constant for row in extents for e in row):
            sizes, (forms,) = over_positions([[e for row in extents for e in row]])
            properties["size_map"] = IndexMapAttr(IndexMap(len(sizes), forms))
        return ExternOp.build(
            operands=[sizes, list(inputs)],
            properties=properties,
            result_types=[list(result_types)],
            regions=[Region(body)],
        )

    @property
    def arguments(self) -> Sequence[BlockArgument]:
        """The buffers that the body reads."""
        return self.body.block.args[: len(self.inputs)]

    @property
    def outputs(self) -> Sequence[BlockArgument]:
        """The buffers that the body writes."""
        return self.body.block.args[len(self.inputs) :]

    def extents(self) -> list[list[Linear]]:
        """The extents of each result."""
        shapes = [cast("TensorType[Attribute]", t).get_shape() for t in self.result_types]
        if self.size_map is None:
            return [[constant(e) for e in shape] for shape in shapes]
        forms = iter(over_values(self.size_map.data.results, self.sizes))
        return [[next(forms) for _ in shape] for shape in shapes]

    def verify_(self) -> None:
        args = self.body.block.args
        if not self.tensors:
            raise VerifyException("an extern has at least one result")
        expected = [buffer_of(t) for t in (*(v.type for v in self.inputs), *self.result_types)]
        if [a.type for a in args] != expected:
            raise VerifyException(f"the body takes the buffers {', '.join(map(str, expected))}")
        shape = [e for t in self.result_types for e in cast("TensorType[Attribute]", t).get_shape()]
        if (DYNAMIC_INDEX in shape) != (self.size_map is not None):
            raise VerifyException("extents are given where one is unknown, and nowhere else")
        if self.size_map is not None:
            dims, forms = self.size_map.data
            if dims != len(self.sizes) or len(forms) != len(shape):
                raise VerifyException(f"{len(forms)} extents for {len(shape)} dimensions")
            if any((f.const if f.is_constant else DYNAMIC_INDEX) != e for f, e in zip(forms, shape, strict=True)):
                raise VerifyException("the extents differ from the result types")
        read_only = set(self.arguments)
        for op in self.body.walk():
            if not op.name.startswith(("tir.", "arith.", "math.")) or op.name in _FOREIGN:
                raise VerifyException(f"{op.name} cannot stand in a te.extern: its body is tir without calls")
            for operand in op.operands:
                if not isinstance(operand.type, IndexType) and not _is_below(operand, self):
                    raise VerifyException(f"{op.name} uses a value from outside; name it among the inputs")
            if op.name in ("tir.store", "tir.copy") and op.operands[1] in read_only:
                name = op.operands[1].name_hint
                raise VerifyException(f"{op.name} writes the input {f'%{name}' if name else 'buffer'}")

    # -- text --

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        inputs: list[SSAValue] = list(self.inputs)
        printer.enter_scope()
        printer.print_string(" ")
        print_bindings(printer, self.arguments, inputs)
        printer.print_string(" -> (")
        first = 0
        for n, output in enumerate(self.outputs):
            printer.print_string(", " if n else "")
            printer.print_ssa_value(output)
            rank = cast("TensorType[Attribute]", self.result_types[n]).get_num_dims()
            if self.size_map is not None:
                part = IndexMap(self.size_map.data.dims, self.size_map.data.results[first : first + rank])
                printer.print_string(" ")
                print_indices(printer, part, self.sizes)
            first += rank
        printer.print_string(")")
        print_signature(printer, [v.type for v in inputs], self.result_types, self.attributes)
        print_body(printer, self.body)
        printer.exit_scope()

    @classmethod
    def parse(cls, parser: Parser) -> ExternOp:
        stage = parser.parse_str_literal("the stage's name")
        bindings = parse_bindings(parser)
        parser.parse_punctuation("->")
        dims = InlineDims(parser)
        forms: list[Linear] = []

        def output() -> Parser.UnresolvedArgument:
            argument = parser.parse_argument(expect_type=False)
            extents = parser.parse_optional_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parse_linear(parser, dims)
            )
            forms.extend(extents or [])
            return argument

        outputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, output)
        (extents,) = dims.settle(forms)
        sizes = parser.resolve_operands(dims.operands, [IndexType()] * len(dims.operands), parser.pos)
        in_types, out_types = parse_types(parser)
        if len(in_types) != len(bindings) or len(out_types) != len(outputs):
            parser.raise_error(f"{len(bindings)} inputs and {len(outputs)} outputs, but other numbers of types")
        for type_ in (*in_types, *out_types):
            if type(type_) is not TensorType:
                parser.raise_error(f"te.extern takes and gives tensors, not {type_}")
        inputs = parser.resolve_operands([v for _, v in bindings], in_types, parser.pos)
        extra = parser.parse_optional_attr_dict_with_keyword()
        names = [*(a for a, _ in bindings), *outputs]
        types = [buffer_of(t) for t in (*in_types, *out_types)]
        body = parser.parse_region([a.resolve(t) for a, t in zip(names, types, strict=True)])
        properties: dict[str, Attribute] = {"stage": StringAttr(stage)}
        if extents:
            properties["size_map"] = IndexMapAttr(IndexMap(len(sizes), extents))
        op = cls.build(operands=[sizes, inputs], properties=properties, result_types=[out_types], regions=[body])
        op.attributes = dict(extra.data) if extra else {}
        return op


def _is_below(value: SSAValue, extern: Operation) -> bool:
    """Whether a value is defined inside an op."""
    owner = value.owner
    parent = owner.parent_op()
    while parent is not None and parent is not extern:
        parent = parent.parent_op()
    return parent is extern
