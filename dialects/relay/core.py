"""Constants, function values and calls: the ops of the relay dialect that are no tensor operators.

    %w = relay.constant #relay.param<"w", "9f86d081884c7d65"> : tensor<8x8xf32>
    %c = relay.constant dense<2.0> : tensor<f32>
    %f = relay.fn (%a: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.relu %a : tensor<8xf32>
      relay.return %0 : tensor<8xf32>
    }
    %y = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>

A function is a value and sees only its parameters: what it needs from outside is passed to it by the call.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FunctionType, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.relay.params import INLINE_BYTES, ConstantAttr, ParamAttr, ParamStore, array_dense

if TYPE_CHECKING:
    from lamina.dialects.relay.params import Array


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A tensor known at compile time: inline when small, else the name of a parameter."""

    name = "relay.constant"
    value = prop_def(ParamAttr | DenseIntOrFPElementsAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure(), ConstantLike())

    @staticmethod
    def make(value: ConstantAttr, type: Attribute | None = None) -> ConstantOp:
        """The type is needed for a parameter; a dense attribute has its own."""
        if type is None:
            if isinstance(value, ParamAttr):
                raise TypeError("the type of a parameter is not in its attribute: give it")
            type = value.type
        return ConstantOp.create(properties={"value": value}, result_types=[type])

    def verify_(self) -> None:
        if isinstance(self.value, DenseIntOrFPElementsAttr) and self.value.type != self.result.type:
            raise VerifyException(f"value of type {self.value.type} for a result of type {self.result.type}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        value = self.value
        if isinstance(value, DenseIntOrFPElementsAttr):
            if _has_special_float(value):
                # The decimal form of NaN and infinities is read back as an integer inside a list.
                printer.print_string(f'dense<"0x{value.data.data.hex().upper()}">')
            else:
                value.print_without_type(printer)
        else:
            printer.print_attribute(value)
        if self.attributes:
            printer.print_string(" ")
            printer.print_attr_dict(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        position = parser.pos
        if parser.parse_optional_keyword("dense") is None:
            value: Attribute = parser.parse_attribute()
            attributes = parser.parse_optional_attr_dict()
            if not isinstance(value, ParamAttr):
                parser.raise_error("expected #relay.param or dense", position, parser.pos)
            parser.parse_punctuation(":")
            type_ = parser.parse_type()
        else:
            value = parser.parse_dense_int_or_fp_elements_attr(None)
            type_ = value.type
            attributes = {}
        return cls.create(properties={"value": value}, result_types=[type_], attributes=attributes)


def _has_special_float(attr: DenseIntOrFPElementsAttr[Any]) -> bool:
    """Whether a NaN or an infinity is among the values: an exponent of ones, found without numpy."""
    element = attr.get_element_type()
    if element.name not in ("f16", "bf16", "f32", "f64"):
        return False
    code, mask = {
        "f16": ("H", 0x7C00),
        "bf16": ("H", 0x7F80),
        "f32": ("I", 0x7F800000),
        "f64": ("Q", 0x7FF0000000000000),
    }[element.name]
    raw = attr.data.data
    return any(v & mask == mask for (v,) in struct.iter_unpack("<" + code, raw))


def constant_value(value: SSAValue | Operation) -> ConstantAttr | None:
    """The attribute of a constant (given as its op or result), None for anything else."""
    owner = value if isinstance(value, Operation) else value.owner
    return owner.value if type(owner) is ConstantOp else None  # pyright: ignore[reportReturnType]


def constant_array(op: SSAValue | Operation, store: ParamStore | None) -> Array:
    """The values of a constant op. Parameters need the store."""
    attr = constant_value(op)
    if attr is None:
        raise TypeError("not a constant")
    return (store or ParamStore()).get(attr)


def make_constant(array: Array, store: ParamStore | None, key_hint: str) -> ConstantOp:
    """A constant of an array: inline up to 1 KB (or without a store), else a parameter named after the hint."""
    from lamina.dialects.dtypes import tensor_type

    if store is None or array.nbytes <= INLINE_BYTES:
        return ConstantOp.make(array_dense(array))
    return ConstantOp.make(store.add(key_hint, array), tensor_type(array.shape, str(array.dtype)))


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a relay.fn."""

    name = "relay.return"
    arguments = var_operand_def()
    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    traits = traits_def(IsTerminator())

    @staticmethod
    def make(*values: SSAValue) -> ReturnOp:
        return ReturnOp.create(operands=values)


@irdl_op_definition
class FnOp(IRDLOperation):
    """A local function as a value. It sees only its parameters; `attributes` hold Primitive, Composite, Compiler."""

    name = "relay.fn"
    body = region_def("single_block")
    result = result_def(FunctionType)

    traits = traits_def(Pure(), IsolatedFromAbove())

    @staticmethod
    def make(block: Block, attributes: dict[str, Attribute] | None = None) -> FnOp:
        """A function of a finished block, which ends in relay.return."""
        last = block.last_op
        if not isinstance(last, ReturnOp):
            raise TypeError("the body of relay.fn ends in relay.return")
        type_ = FunctionType.from_lists([a.type for a in block.args], [v.type for v in last.operands])
        return FnOp.create(result_types=[type_], regions=[Region(block)], attributes=attributes or {})

    @property
    def function_type(self) -> FunctionType:
        type_ = self.result.type
        assert isinstance(type_, FunctionType)
        return type_

    @property
    def returned(self) -> tuple[SSAValue, ...]:
        """What the body returns."""
        last = self.body.block.last_op
        assert last is not None
        return tuple(last.operands)

    def verify_(self) -> None:
        if self.function_type.inputs.data != tuple(self.body.block.arg_types):
            raise VerifyException("the parameters differ from the function type")
        last = self.body.block.last_op
        if not isinstance(last, ReturnOp):
            raise VerifyException("the body does not end in relay.return")
        if tuple(v.type for v in last.operands) != self.function_type.outputs.data:
            raise VerifyException("relay.return gives other types than the function type")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string("(")
        printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(") -> ")
        _print_types(printer, self.function_type.outputs.data)
        if self.attributes:
            printer.print_string(" attributes ")
            printer.print_attr_dict(self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body, False, False)

    @classmethod
    def parse(cls, parser: Parser) -> FnOp:
        args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        parser.parse_punctuation("->")
        outputs = _parse_types(parser)
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("attributes"):
            attributes = parser.parse_optional_attr_dict()
        region = parser.parse_region(args)
        type_ = FunctionType.from_lists([a.type for a in args], outputs)
        return cls.create(result_types=[type_], regions=[region], attributes=attributes)


@irdl_op_definition
class CallOp(IRDLOperation):
    """Calls a function value."""

    name = "relay.call"
    callee = operand_def(FunctionType)
    arguments = var_operand_def()
    res = var_result_def()

    @staticmethod
    def make(callee: SSAValue | FnOp, *arguments: SSAValue) -> CallOp:
        value = callee.result if isinstance(callee, FnOp) else callee
        assert isinstance(value.type, FunctionType)
        return CallOp.create(operands=[value, *arguments], result_types=value.type.outputs.data)

    def function(self) -> FnOp | None:
        """The called function where it is known here."""
        owner = self.operands[0].owner
        return owner if isinstance(owner, FnOp) else None

    def verify_(self) -> None:
        type_ = self.callee.type
        assert isinstance(type_, FunctionType)
        if tuple(v.type for v in self.arguments) != type_.inputs.data:
            raise VerifyException(f"the arguments do not fit the callee {type_}")
        if tuple(self.result_types) != type_.outputs.data:
            raise VerifyException(f"the results do not fit the callee {type_}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.callee)
        printer.print_string("(")
        printer.print_list(self.arguments, printer.print_ssa_value)
        printer.print_string(")")
        if self.attributes:
            printer.print_string(" ")
            printer.print_attr_dict(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.callee.type)

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        callee = parser.parse_unresolved_operand()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType):
            parser.raise_error("expected a function type", position, parser.pos)
        if len(type_.inputs) != len(arguments):
            parser.raise_error(f"{len(arguments)} arguments but {len(type_.inputs)} parameter types", position)
        values = parser.resolve_operands(arguments, type_.inputs.data, position)
        operands: list[SSAValue] = [parser.resolve_operand(callee, type_), *values]
        return cls.create(operands=operands, result_types=type_.outputs.data, attributes=attributes)


def _print_types(printer: Printer, types: Sequence[Attribute]) -> None:
    if len(types) == 1 and not isinstance(types[0], FunctionType):
        printer.print_attribute(types[0])
        return
    printer.print_string("(")
    printer.print_list(types, printer.print_attribute)
    printer.print_string(")")


def _parse_types(parser: Parser) -> Sequence[Attribute]:
    found = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return found if found is not None else [parser.parse_type()]
