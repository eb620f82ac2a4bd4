"""StableHLO's ops whose region says how two elements become one, or which of two comes first."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, FunctionType, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import TensorInfo, TypeMismatch, tensor_info
from lamina.dialects.stablehlo.attributes import parse_ints
from lamina.dialects.stablehlo.base import GenericHlo, HloOp, element
from lamina.dialects.stablehlo.control import HloReturnOp, check_region, truth


def scalars(types: Any) -> list[Attribute]:
    """The types of single elements."""
    return [tensor_type((), element(t)) for t in types]


class ReducingOp(HloOp):
    """Base: operands are inputs, then as many values that each result begins with."""

    body = region_def()

    @property
    def count(self) -> int:
        """The number of inputs."""
        return len(self.operands) // 2

    def check_body(self) -> None:
        """Check inputs, initial values and region. Raises VerifyException."""
        half = self.count
        if not half or len(self.operands) != 2 * half:
            raise VerifyException(f"{len(self.operands)} operands are no inputs with as many initial values")
        types = scalars(self.operand_types[:half])
        if list(self.operand_types[half:]) != types:
            raise VerifyException("an initial value is no scalar of its input's type")
        check_region(self.body, [*types, *types], types, "the reducer")

    def verify_(self) -> None:
        try:
            infos = [tensor_info(t) for t in (*self.operand_types, *self.result_types)]
        except TypeMismatch:
            return
        self.check_body()
        half = self.count
        if any(i.shape != infos[0].shape for i in infos[:half]):
            raise VerifyException("the inputs differ in their shapes")
        super().verify_()


@irdl_op_definition
class HloReduceOp(ReducingOp):
    """The elements along some dimensions become one, pair by pair."""

    name = "stablehlo.reduce"
    inputs_and_inits = var_operand_def(TensorType)
    dimensions = prop_def(DenseArrayBase)
    result = var_result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> list[TensorInfo]:
        dims, rank = self.ints("dimensions"), len(types[0].shape)
        if len(set(dims)) != len(dims) or any(not 0 <= d < rank for d in dims):
            raise ValueError(f"dimensions = {list(dims)} of {rank}")
        kept = tuple(e for d, e in enumerate(types[0].shape) if d not in dims)
        return [TensorInfo(kept, t.dtype) for t in types[: self.count]]

    def simple_body(self) -> Operation | None:
        """The one op of the region where it is of the two elements in their order, else None."""
        block = self.body.block
        ops = list(block.ops)
        if len(ops) != 2 or len(block.args) != 2 or ops[0].regions or ops[0].properties or ops[0].attributes:
            return None
        fits = list(ops[0].operands) == list(block.args) and list(ops[1].operands) == list(ops[0].results)
        return ops[0] if fits else None

    def print(self, printer: Printer) -> None:
        half = self.count
        for n in range(half):
            printer.print_string(", " if n else "")
            printer.print_string("(")
            printer.print_ssa_value(self.operands[n])
            printer.print_string(" init: ")
            printer.print_ssa_value(self.operands[half + n])
            printer.print_string(")")
        simple = self.simple_body()
        if simple is not None:
            printer.print_string(f" applies {simple.name}")
        printer.print_string(f" across dimensions = {list(self.ints('dimensions'))}")
        self.print_dict(printer, {"dimensions"})
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(self.operand_types, self.result_types))
        if simple is not None:
            return
        printer.print_string(" reducer")
        args = self.body.block.args
        for n in range(half):
            printer.print_string("(" if n == 0 else " (")
            for m, argument in enumerate((args[n], args[half + n])):
                printer.print_string(", " if m else "")
                printer.print_ssa_value(argument)
                printer.print_string(": ")
                printer.print_attribute(argument.type)
                if printer.print_debuginfo:
                    printer.print_string(" loc(")
                    printer.print_attribute(argument.location)
                    printer.print_string(")")
            printer.print_string(")")
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        inputs: list[Any] = []
        inits: list[Any] = []
        while not inputs or parser.parse_optional_punctuation(","):
            with parser.in_parens():
                inputs.append(parser.parse_unresolved_operand())
                parser.parse_keyword("init")
                parser.parse_punctuation(":")
                inits.append(parser.parse_unresolved_operand())
        applied, position = None, parser.pos
        if parser.parse_optional_keyword("applies"):
            position = parser.pos
            applied = parser.parse_identifier()
        parser.parse_keyword("across")
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        dims = DenseArrayBase.from_list(i64, parse_ints(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type_ = parser.parse_function_type()
        if len(type_.inputs) != 2 * len(inputs):
            parser.raise_error(f"{2 * len(inputs)} operands but {len(type_.inputs)} operand types", start, parser.pos)
        operands = [parser.resolve_operand(o, t) for o, t in zip([*inputs, *inits], type_.inputs, strict=True)]
        if applied is not None:
            if len(inputs) != 1:
                parser.raise_error("`applies` is for one input", position, parser.pos)
            region = _applied(parser, applied, type_.inputs.data[1], position)
        else:
            region = _reducer(parser, len(inputs))
        return cls.create(
            operands=operands, result_types=type_.outputs.data, properties={"dimensions": dims}, attributes=attributes,
            regions=[region],
        )  # fmt: skip


def _applied(parser: Parser, name: str, type_: Attribute, position: int) -> Region:
    """The region of one op on two elements."""
    op = parser.ctx.get_optional_op(name)
    if op is None or not issubclass(op, HloOp) or not name.startswith("stablehlo."):
        parser.raise_error(f"{name} is no op of two elements", position, position + len(name))
    block = Block(arg_types=[type_, type_])
    applied = op.create(operands=block.args, result_types=[type_])
    block.add_ops([applied, HloReturnOp.create(operands=applied.results)])
    return Region(block)


def _reducer(parser: Parser, count: int) -> Region:
    parser.parse_keyword("reducer")
    pairs: list[list[Any]] = []
    for _ in range(count):
        position = parser.pos
        pairs.append(parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _argument(parser)))
        if len(pairs[-1]) != 2:
            parser.raise_error("expected the two elements of an input", position, parser.pos)
    return parser.parse_region([*(p[0] for p in pairs), *(p[1] for p in pairs)])


def _argument(parser: Parser) -> Any:
    from dataclasses import replace

    argument = parser.parse_argument()
    location = parser.parse_optional_location()
    return replace(argument, location=location) if location is not None else argument


@irdl_op_definition
class ReduceWindowOp(ReducingOp, GenericHlo):
    """The elements of each window become one."""

    name = "stablehlo.reduce_window"
    inputs_and_inits = var_operand_def(TensorType)
    window_dimensions = prop_def(Attribute)
    window_strides = opt_prop_def(Attribute)
    base_dilations = opt_prop_def(Attribute)
    window_dilations = opt_prop_def(Attribute)
    padding = opt_prop_def(Attribute)
    result = var_result_def(TensorType)

    def window(self, name: str) -> tuple[int, ...]:
        """A number for each dimension."""
        return self.ints(name, [1] * len(self.ints("window_dimensions")))

    def pads(self) -> tuple[tuple[int, int], ...]:
        """The padding before and behind, for each dimension."""
        flat = self.ints("padding", [0] * 2 * len(self.ints("window_dimensions")))
        return tuple(zip(flat[::2], flat[1::2], strict=True))

    def result_info(self, *types: TensorInfo) -> list[TensorInfo]:
        shape = types[0].shape
        names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
        lists, pads = [self.window(n) for n in names], self.pads()
        if any(len(v) != len(shape) for v in (*lists, pads)) or any(min(v, default=1) < 1 for v in lists):
            raise ValueError("a window's list is too short, or not positive")
        out: list[int] = []
        for n, size, step, spread, apart, (low, high) in zip(shape, *lists, pads, strict=True):
            have = (n - 1) * spread + 1 + low + high if n else low + high
            out.append(max((have - ((size - 1) * apart + 1)) // step + 1, 0))
        return [TensorInfo(tuple(out), t.dtype) for t in types[: self.count]]


@irdl_op_definition
class SelectAndScatterOp(GenericHlo):
    """Each element of `source` goes to the place in its window of `operand` that `select` chooses, by `scatter`."""

    name = "stablehlo.select_and_scatter"
    operand = operand_def(TensorType)
    source = operand_def(TensorType)
    init_value = operand_def(TensorType)
    window_dimensions = opt_prop_def(Attribute)
    window_strides = opt_prop_def(Attribute)
    padding = opt_prop_def(Attribute)
    select = region_def()
    scatter = region_def()
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        one = scalars(self.operand_types[:1])
        check_region(self.select, [*one, *one], [truth()], "`select`")
        check_region(self.scatter, [*one, *one], one, "`scatter`")
        return types[0]


@irdl_op_definition
class HloSortOp(GenericHlo):
    """Rows of several tensors in the order in which a region puts their elements."""

    name = "stablehlo.sort"
    inputs = var_operand_def(TensorType)
    dimension = opt_prop_def(IntegerAttr)
    is_stable = opt_prop_def(IntegerAttr)
    comparator = region_def()
    result = var_result_def(TensorType)

    @property
    def axis(self) -> int:
        """The dimension along which rows are sorted, counted from the first."""
        rank = len(self.info().shape)
        dim = self.number("dimension", -1)
        return dim + rank if dim < 0 else dim

    def result_info(self, *types: TensorInfo) -> list[TensorInfo]:
        if not types or any(t.shape != types[0].shape for t in types):
            raise ValueError("the inputs differ in their shapes")
        if not 0 <= self.axis < len(types[0].shape):
            raise IndexError(f"there is no dimension {self.number('dimension', -1)}")
        pairs = [t for one in scalars(self.operand_types) for t in (one, one)]
        check_region(self.comparator, pairs, [truth()], "the comparator")
        return list(types)


@irdl_op_definition
class MapOp(GenericHlo):
    """A region on the elements at each place."""

    name = "stablehlo.map"
    inputs = var_operand_def(TensorType)
    dimensions = opt_prop_def(DenseArrayBase)
    computation = region_def()
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        check_region(self.computation, scalars(self.operand_types), scalars(self.result_types), "the region")
        return TensorInfo(types[0].shape, element(self.result.type))
