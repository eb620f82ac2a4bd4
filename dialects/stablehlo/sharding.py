"""Shardy's ops, which say on which devices values are: `sdy.mesh @mesh = <["x"=2]>`. On one device they are nothing."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.stablehlo.base import HloOp


@irdl_op_definition
class MeshOp(HloOp):
    """Names of devices; `axes` is kept as it is written."""

    name = "sdy.mesh"
    sym_name = prop_def(StringAttr)
    axes = opt_prop_def(StringAttr)

    @property
    def devices(self) -> int:
        """The number of devices."""
        from math import prod
        from re import findall

        text = self.axes.data if self.axes is not None else ""
        return prod(int(n) for n in findall(r"=\s*(\d+)", text))

    def print(self, printer: Printer) -> None:
        printer.print_string(" @")
        printer.print_string(self.sym_name.data)
        printer.print_string(f" = <{self.axes.data if self.axes is not None else ''}>")
        self.print_dict(printer, {"sym_name", "axes"})

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        called = parser.parse_symbol_name()
        parser.parse_punctuation("=")
        text = parser._parse_dialect_symbol_body()  # pyright: ignore[reportPrivateUsage]
        properties = {"sym_name": called, "axes": StringAttr(text)}
        return cls.create(properties=properties, attributes=parser.parse_optional_attr_dict())  # type: ignore[arg-type]


@irdl_op_definition
class ShardingConstraintOp(HloOp):
    """The operand, which is to lie as a sharding says: `%x <@mesh, [{}]> : tensor<4xf32>`."""

    name = "sdy.sharding_constraint"
    SHORT: ClassVar = True
    operand = operand_def()
    sharding = prop_def(Attribute)
    result = result_def()

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        sharding: Any = self.sharding
        text = sharding.data if isinstance(sharding, StringAttr) else str(getattr(sharding, "value", sharding).data)
        printer.print_string(f" <{text}>")
        self.print_rest(printer, {"sharding"})

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        operand = parser.parse_unresolved_operand()
        text = parser._parse_dialect_symbol_body()  # pyright: ignore[reportPrivateUsage]
        return cls.parse_rest(parser, [operand], {"sharding": StringAttr(text)})
