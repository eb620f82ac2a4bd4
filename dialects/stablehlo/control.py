"""StableHLO's ops with regions that run once or many times, and calls: `while`, `if`, `case`, composites."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, FlatSymbolRefAttrConstr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.stablehlo.base import GenericHlo, HloOp, TypeOnlyOp, parse_operands


@irdl_op_definition
class HloReturnOp(TypeOnlyOp):
    """Ends a region with its results."""

    name = "stablehlo.return"
    arguments = var_operand_def()
    traits = traits_def(IsTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        if not _operand_follows(parser):
            return cls.create(attributes=parser.parse_optional_attr_dict())
        return super().parse(parser)

    @classmethod
    def parse_types(cls, parser: Parser, count: int) -> tuple[list[Attribute], list[Attribute]]:
        return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type), []

    def print(self, printer: Printer) -> None:
        if self.arguments:
            super().print(printer)
        else:
            self.print_dict(printer, set())


def _operand_follows(parser: Parser) -> bool:
    from xdsl.utils.mlir_lexer import MLIRTokenKind

    return parser._current_token.kind is MLIRTokenKind.PERCENT_IDENT  # pyright: ignore[reportPrivateUsage]


def returned(region: Region) -> tuple[SSAValue, ...]:
    """The values that a region of one block ends with. Raises VerifyException for another region."""
    block = region.blocks.first
    if block is None or block.next_block is not None or not isinstance(block.last_op, HloReturnOp):
        raise VerifyException("a region is one block that ends in stablehlo.return")
    return tuple(block.last_op.operands)


def check_region(region: Region, inputs: list[Attribute], outputs: list[Attribute], what: str) -> None:
    """Check what a region takes and gives. Raises VerifyException."""
    given = [v.type for v in returned(region)]
    taken = list(region.block.arg_types)
    for have, want, verb in ((taken, inputs, "takes"), (given, outputs, "gives")):
        if have != want:
            texts = [", ".join(map(str, side)) or "nothing" for side in (have, want)]
            raise VerifyException(f"{what} {verb} {texts[0]}, expected {texts[1]}")


def truth() -> Attribute:
    """The type of a condition."""
    from lamina.dialects.dtypes import tensor_type

    return tensor_type((), "bool")


@irdl_op_definition
class WhileOp(HloOp):
    """Values that a body changes as long as a condition on them holds."""

    name = "stablehlo.while"
    operand = var_operand_def()
    result = var_result_def()
    cond = region_def()
    body = region_def()

    def verify_(self) -> None:
        types = list(self.operand_types)
        if list(self.result_types) != types:
            raise VerifyException("the results are not of the operands' types")
        check_region(self.cond, types, [truth()], "the condition")
        check_region(self.body, types, types, "the body")

    def print(self, printer: Printer) -> None:
        arguments = self.cond.block.args
        with printer.in_parens():
            for n, (argument, value) in enumerate(zip(arguments, self.operands, strict=True)):
                printer.print_string(", " if n else "")
                printer.print_ssa_value(argument)
                printer.print_string(" = ")
                printer.print_ssa_value(value)
        if self.operands:
            printer.print_string(" : ")
            printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        # Both regions name their arguments as the head does.
        names = [printer._ssa_values.get(a) for a in arguments]  # pyright: ignore[reportPrivateUsage]
        printer.print_string(" cond ")
        printer.print_region(self.cond, print_entry_block_args=False)
        printer.print_string(" do ")
        for argument, name in zip(self.body.block.args, names, strict=True):
            if name is not None:
                printer._ssa_values[argument] = name  # pyright: ignore[reportPrivateUsage]
        printer.print_region(self.body, print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        def binding() -> tuple[Any, Any]:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            return argument, parser.parse_unresolved_operand()

        bindings = parser.parse_comma_separated_list(parser.Delimiter.PAREN, binding)
        position = parser.pos
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":"):
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(types) != len(bindings):
            parser.raise_error(f"{len(bindings)} values but {len(types)} types", position, parser.pos)
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("attributes"):
            attributes = parser.parse_optional_attr_dict()
        operands = [parser.resolve_operand(v, t) for (_, v), t in zip(bindings, types, strict=True)]
        regions: list[Region] = []
        for keyword in ("cond", "do"):
            parser.parse_keyword(keyword)
            regions.append(parser.parse_region([a.resolve(t) for (a, _), t in zip(bindings, types, strict=True)]))
        return cls.create(operands=operands, result_types=types, regions=regions, attributes=attributes)


@irdl_op_definition
class HloIfOp(GenericHlo):
    """The results of one of two regions."""

    name = "stablehlo.if"
    pred = operand_def()
    result = var_result_def()
    true_branch = region_def()
    false_branch = region_def()

    def verify_(self) -> None:
        if self.pred.type != truth():
            raise VerifyException(f"the condition is one truth value, tensor<i1>, not {self.pred.type}")
        for region in self.regions:
            check_region(region, [], list(self.result_types), "a branch")


@irdl_op_definition
class CaseOp(GenericHlo):
    """The results of the region with a number; the last one where there is none."""

    name = "stablehlo.case"
    index = operand_def()
    result = var_result_def()
    branches = var_region_def()

    def verify_(self) -> None:
        from lamina.dialects.dtypes import tensor_type

        if self.index.type != tensor_type((), "int32"):
            raise VerifyException(f"the number is a tensor<i32>, not {self.index.type}")
        if not self.regions:
            raise VerifyException("there is no branch")
        for region in self.regions:
            check_region(region, [], list(self.result_types), "a branch")


@irdl_op_definition
class CompositeOp(HloOp):
    """A function of the module under a name by which it may be known: `chlo.erf`, `chlo.top_k`."""

    name = "stablehlo.composite"
    inputs = var_operand_def()
    # `name` is what the op is called.
    composite_name = prop_def(StringAttr, prop_name="name")
    composite_attributes = opt_prop_def(DictionaryAttr)
    decomposition = prop_def(FlatSymbolRefAttrConstr)
    version = opt_prop_def(IntegerAttr)
    result = var_result_def()

    def print_operands(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.composite_name.data)
        super().print_operands(printer)

    def print_rest(self, printer: Printer, shown: set[str]) -> None:
        super().print_rest(printer, {"name"})

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        called = StringAttr(parser.parse_str_literal())
        return cls.parse_rest(parser, parse_operands(parser), {"name": called})


@irdl_op_definition
class CustomCallOp(HloOp):
    """A call of a function that XLA knows by its name: `stablehlo.custom_call @Sharding(%x)`."""

    name = "stablehlo.custom_call"
    inputs = var_operand_def()
    call_target_name = prop_def(StringAttr)
    result = var_result_def()
    traits = traits_def(Pure())

    def print(self, printer: Printer) -> None:
        from xdsl.dialects.builtin import SymbolRefAttr

        printer.print_string(" ")
        printer.print_attribute(SymbolRefAttr(self.call_target_name))
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_ssa_value)
        self.print_rest(printer, {"call_target_name"})

    def print_types(self, printer: Printer) -> None:
        from xdsl.dialects.builtin import FunctionType

        printer.print_attribute(FunctionType.from_lists(self.operand_types, self.result_types))

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        target = StringAttr(parser.parse_symbol_name().data)
        with parser.in_parens():
            operands = parse_operands(parser)
        return cls.parse_rest(parser, operands, {"call_target_name": target})
