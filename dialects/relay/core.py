"""Constants, function values and calls: the ops of the relay dialect that are no tensor operators.

    %w = relay.constant #relay.param<"w", "9f86d081884c7d65"> : tensor<8x8xf32>
    %c = relay.constant dense<2.0> : tensor<f32>
    %f = relay.fn (%a: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.relu %a : tensor<8xf32>
      relay.return %0 : tensor<8xf32>
    }
    %y = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %g = relay.global @helper : (tensor<8xf32>) -> tensor<8xf32>

A function is a value and sees only its parameters and its captures, which it lists: values from outside that it keeps
wherever it goes. `self` names the function inside itself, for recursion:

    %count = relay.fn captures(%k = %step : tensor<i32>) self %again (%n: tensor<i32>) -> tensor<i32> { ... }

Its block's arguments are the parameters, then the captures, then itself.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
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
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.relay.params import INLINE_BYTES, ConstantAttr, ParamAttr, ParamStore, array_dense
from lamina.dialects.relay.value_types import accepts

if TYPE_CHECKING:
    from lamina.dialects.relay.params import Array


class ProgramOp(IRDLOperation):
    """Base of the ops that no kernel has and only the virtual machine runs: control flow, data, cells, memory."""


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
            if has_special_float(value):
                # The decimal form of NaN and infinities is read back as an integer inside a list.
                printer.print_string(f'dense<"0x{value.data.data.hex().upper()}">')
            else:
                value.print_without_type(printer)
        else:
            printer.print_attribute(value)
        printer.print_op_attributes(self.attributes)
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


def has_special_float(attr: DenseIntOrFPElementsAttr[Any]) -> bool:
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


def make_constant(array: Array, store: ParamStore | None, key_hint: str, digest: str | None = None) -> ConstantOp:
    """A constant of an array: inline up to 1 KB (or without a store), else a parameter named after the hint.

    `digest` is that of the array where it is known.
    """
    from lamina.dialects.dtypes import tensor_type

    if store is None or array.nbytes <= INLINE_BYTES:
        return ConstantOp.make(array_dense(array))
    return ConstantOp.make(store.add(key_hint, array, digest), tensor_type(array.shape, str(array.dtype)))


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
    """A local function as a value: see the module's docstring. `attributes` hold Primitive, Composite, Compiler."""

    name = "relay.fn"
    captures = var_operand_def()
    recursive = opt_prop_def(UnitAttr)
    """Whether the last argument of the block is the function itself."""
    body = region_def("single_block")
    result = result_def(FunctionType)

    traits = traits_def(Pure(), IsolatedFromAbove())

    @staticmethod
    def make(
        block: Block,
        attributes: dict[str, Attribute] | None = None,
        captures: Sequence[SSAValue] = (),
        recursive: bool = False,
    ) -> FnOp:
        """A function of a finished block, which ends in relay.return."""
        last = block.last_op
        if not isinstance(last, ReturnOp):
            raise TypeError("the body of relay.fn ends in relay.return")
        parameters = block.args[: len(block.args) - len(captures) - recursive]
        type_ = FunctionType.from_lists([a.type for a in parameters], [v.type for v in last.operands])
        return FnOp.create(
            operands=captures,
            result_types=[type_],
            properties={"recursive": UnitAttr()} if recursive else {},
            regions=[Region(block)],
            attributes=attributes or {},
        )

    @property
    def function_type(self) -> FunctionType:
        type_ = self.result.type
        assert isinstance(type_, FunctionType)
        return type_

    @property
    def returned(self) -> tuple[SSAValue, ...]:
        """The values that the body returns."""
        last = self.body.block.last_op
        assert last is not None
        return tuple(last.operands)

    @property
    def parameters(self) -> tuple[BlockArgument, ...]:
        """The block's arguments that calls give."""
        return tuple(self.body.block.args[: len(self.function_type.inputs)])

    @property
    def captured(self) -> tuple[BlockArgument, ...]:
        """The block's arguments that stand for the captures."""
        first = len(self.function_type.inputs)
        return tuple(self.body.block.args[first : first + len(self.operands)])

    @property
    def itself(self) -> BlockArgument | None:
        """The block's argument that is the function itself."""
        return self.body.block.args[-1] if self.recursive is not None else None

    def verify_(self) -> None:
        type_ = self.function_type
        found = self.body.block.arg_types
        wanted = (*type_.inputs, *(v.type for v in self.operands), *([type_] if self.recursive is not None else []))
        if found[: len(type_.inputs)] != type_.inputs.data:
            raise VerifyException("the parameters differ from the function type")
        if found != wanted:
            what = "a parameter for each capture" + (" and one for itself" if self.recursive is not None else "")
            raise VerifyException(f"the body takes {_listed(found)}, expected {_listed(wanted)}: {what}")
        last = self.body.block.last_op
        if not isinstance(last, ReturnOp):
            raise VerifyException("the body does not end in relay.return")
        if not fits(type_.outputs.data, [v.type for v in last.operands]):
            raise VerifyException("relay.return gives other types than the function type")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.operands:
            printer.print_string("captures(")
            printer.print_list(
                list(zip(self.captured, self.operands, strict=True)), lambda pair: _print_capture(printer, *pair)
            )
            printer.print_string(") ")
        if self.itself is not None:
            printer.print_string("self ")
            printer.print_ssa_value(self.itself)
            printer.print_string(" ")
        printer.print_string("(")
        printer.print_list(self.parameters, lambda argument: print_argument(printer, argument))
        printer.print_string(") -> ")
        print_types(printer, self.function_type.outputs.data)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, False, False)

    @classmethod
    def parse(cls, parser: Parser) -> FnOp:
        captured: list[Parser.Argument] = []
        captures: list[SSAValue] = []
        if parser.parse_optional_keyword("captures"):
            for argument, value in parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: _parse_capture(parser)
            ):
                captured.append(argument)
                captures.append(value)
        itself = parser.parse_argument(expect_type=False) if parser.parse_optional_keyword("self") else None
        parameters = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        parser.parse_punctuation("->")
        outputs = parse_types(parser)
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("attributes"):
            attributes = parser.parse_optional_attr_dict()
        type_ = FunctionType.from_lists([a.type for a in parameters], outputs)
        args = [*parameters, *captured, *([itself.resolve(type_)] if itself is not None else [])]
        region = parser.parse_region(args)
        properties: dict[str, Attribute] = {"recursive": UnitAttr()} if itself is not None else {}
        return cls.create(
            operands=captures, result_types=[type_], properties=properties, regions=[region], attributes=attributes
        )


def print_argument(printer: Printer, argument: BlockArgument) -> None:
    """A name and its type. No location, which no parser of arguments would take back."""
    printer.print_ssa_value(argument)
    printer.print_string(": ")
    printer.print_attribute(argument.type)


def _print_capture(printer: Printer, argument: BlockArgument, value: SSAValue) -> None:
    printer.print_ssa_value(argument)
    printer.print_string(" = ")
    printer.print_ssa_value(value)
    printer.print_string(" : ")
    printer.print_attribute(value.type)


def _parse_capture(parser: Parser) -> tuple[Parser.Argument, SSAValue]:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    value = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    return argument.resolve(type_), parser.resolve_operand(value, type_)


@irdl_op_definition
class GlobalOp(ProgramOp):
    """A function of the module, a func.func, as a value."""

    name = "relay.global"
    callee = prop_def(FlatSymbolRefAttrConstr)
    result = result_def(FunctionType)
    assembly_format = "$callee attr-dict `:` type($result)"

    traits = traits_def(Pure())

    @staticmethod
    def make(callee: str, type_: FunctionType) -> GlobalOp:
        return GlobalOp.create(properties={"callee": SymbolRefAttr(callee)}, result_types=[type_])

    def verify_(self) -> None:
        name = self.callee.string_value()
        module = module_of(self)
        if module is None:
            return
        function = symbol(module, name)
        if function is None or function.name != "func.func":
            raise VerifyException(f"there is no function @{name} in the module")
        type_ = function.properties["function_type"]
        if type_ != self.result.type:
            raise VerifyException(f"@{name} is of type {type_}, not {self.result.type}")


class FunctionCall(IRDLOperation):
    """Base of calls: `%f(%x, %y) : type`, and `of (types)` where arguments know extents that parameters leave open."""

    callee = operand_def(FunctionType)
    arguments = var_operand_def()
    res = var_result_def()

    @classmethod
    def make(cls, callee: SSAValue | FnOp, *arguments: SSAValue) -> Self:
        value = callee.result if isinstance(callee, FnOp) else callee
        assert isinstance(value.type, FunctionType)
        return cls.create(operands=[value, *arguments], result_types=value.type.outputs.data)

    def function(self) -> FnOp | None:
        """The called function where it is known here."""
        owner = self.operands[0].owner
        return owner if isinstance(owner, FnOp) else None

    def verify_(self) -> None:
        type_ = self.callee.type
        assert isinstance(type_, FunctionType)
        if not fits(type_.inputs.data, [v.type for v in self.arguments], names=False):
            raise VerifyException(f"the arguments do not fit the callee {type_}")
        if tuple(self.result_types) != type_.outputs.data:
            raise VerifyException(f"the results do not fit the callee {type_}")

    def print(self, printer: Printer) -> None:
        type_ = self.callee.type
        assert isinstance(type_, FunctionType)
        given = [v.type for v in self.arguments]
        printer.print_string(" ")
        printer.print_ssa_value(self.callee)
        printer.print_string("(")
        printer.print_list(self.arguments, printer.print_ssa_value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(type_)
        if tuple(given) != type_.inputs.data:
            printer.print_string(" of (")
            printer.print_list(given, printer.print_attribute)
            printer.print_string(")")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        callee = parser.parse_unresolved_operand()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parse_function_type(parser)
        given: Sequence[Attribute] = type_.inputs.data
        if parser.parse_optional_keyword("of"):
            given = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        if len(given) != len(arguments):
            parser.raise_error(f"{len(arguments)} arguments but {len(given)} parameter types", position)
        values = parser.resolve_operands(arguments, given, position)
        operands: list[SSAValue] = [parser.resolve_operand(callee, type_), *values]
        return cls.create(operands=operands, result_types=type_.outputs.data, attributes=attributes)


@irdl_op_definition
class CallOp(FunctionCall):
    """Calls a function value. An argument may have extents known that the parameter leaves open."""

    name = "relay.call"


# -- what the ops of the language share ------------------------------------------------------------


def fits(declared: Sequence[Attribute], actual: Sequence[Attribute], names: bool = True) -> bool:
    """Whether values of some types may stand where others are declared (`value_types.accepts`)."""
    return len(declared) == len(actual) and all(accepts(d, a, names) for d, a in zip(declared, actual, strict=True))


def module_of(op: Operation) -> Operation | None:
    """The module around an op, None where it stands in none."""
    parent = op.parent_op()
    while parent is not None and parent.name != "builtin.module":
        parent = parent.parent_op()
    return parent


def symbol(module: Operation, name: str) -> Operation | None:
    """The op of a module that has the name."""
    for op in module.regions[0].block.ops:
        found = op.properties.get("sym_name")
        if isinstance(found, StringAttr) and found.data == name:
            return op
    return None


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types)) or "nothing"


def print_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """One type, or several in parentheses. A function type stands in parentheses."""
    if len(types) == 1 and not isinstance(types[0], FunctionType):
        printer.print_attribute(types[0])
        return
    printer.print_string("(")
    printer.print_list(types, printer.print_attribute)
    printer.print_string(")")


def parse_types(parser: Parser) -> Sequence[Attribute]:
    """Parse what `print_types` prints."""
    found = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return found if found is not None else [parser.parse_type()]


def parse_function_type(parser: Parser) -> FunctionType:
    """Parse the type of a callee. Raises ParseError for another type."""
    position = parser.pos
    type_ = parser.parse_type()
    if not isinstance(type_, FunctionType):
        parser.raise_error("expected a function type", position, parser.pos)
    return type_
