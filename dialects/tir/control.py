"""Statements that run under conditions, and where threads wait for each other."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.index.accesses import INDEX, over_positions, over_values
from lamina.dialects.index.index_map import (
    Condition,
    IndexSet,
    IndexSetAttr,
    InlineDims,
    parse_condition,
    print_conditions,
)
from lamina.dialects.region_text import parse_attributed_body, print_attributed_body

BARRIER_SCOPES = ("shared", "global", "warp")


class ConditionalBase(IRDLOperation, abc.ABC):
    """An op that runs under conditions: the operands are what the conditions mention, `set` the conditions."""

    def condition_set(self) -> IndexSet | None:
        """The conditions over the positions of the operands."""
        found = self.properties.get("set")
        return found.data if isinstance(found, IndexSetAttr) else None

    def conditions(self) -> list[Condition]:
        """The conditions over SSA values."""
        found = self.condition_set()
        if found is None:
            return []
        forms = over_values([c.form for c in found.conditions], self.operands)
        return [Condition(f, c.equal) for f, c in zip(forms, found.conditions, strict=True)]

    def set_conditions(self, conditions: Sequence[Condition]) -> None:
        """Replace the conditions."""
        values, (forms,) = over_positions([[c.form for c in conditions]])
        self.operands = values
        self.properties.pop("set", None)
        if conditions:
            set_ = tuple(Condition(f, c.equal) for f, c in zip(forms, conditions, strict=True))
            self.properties["set"] = IndexSetAttr(IndexSet(len(values), set_))

    def verify_(self) -> None:
        found = self.condition_set()
        dims = found.dims if found is not None else 0
        if dims != len(self.operands):
            raise VerifyException(f"the conditions have {dims} dimensions, the op {len(self.operands)} operands")


def parse_set(parser: Parser) -> tuple[Sequence[SSAValue], Attribute]:
    """`[%i - 1 >= 0, %j == 0]`: the operands and the set over their positions."""
    dims = InlineDims(parser)
    conditions = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_condition(parser, dims))
    kept = dims.settle_conditions(conditions)
    operands = parser.resolve_operands(dims.operands, [INDEX] * len(dims.operands), parser.pos)
    return operands, IndexSetAttr(IndexSet(len(operands), kept))


@irdl_op_definition
class IfOp(ConditionalBase):
    """Statements that run only where all conditions hold: `tir.if [%n - %i - 1 >= 0] { ... }`."""

    name = "tir.if"

    dims = var_operand_def(INDEX)
    set = prop_def(IndexSetAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    @staticmethod
    def make(conditions: Sequence[Condition], body: Block | None = None) -> IfOp:
        op = IfOp.create(regions=[Region(body if body is not None else Block())])
        op.set_conditions(conditions)
        return op

    def verify_(self) -> None:
        super().verify_()
        if not self.set.data.conditions:
            raise VerifyException("there is no condition")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_conditions(printer, self.set.data, self.dims)
        print_attributed_body(printer, self.attributes, self.body)

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        operands, set_ = parse_set(parser)
        attributes, body = parse_attributed_body(parser)
        return cls.create(operands=operands, properties={"set": set_}, attributes=attributes, regions=[body])


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """All threads of a block wait until each has come here, and see what the others wrote: `tir.barrier "shared"`."""

    name = "tir.barrier"

    scope = prop_def(StringAttr)
    assembly_format = "$scope attr-dict"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @staticmethod
    def make(scope: str = "shared") -> BarrierOp:
        return BarrierOp.create(properties={"scope": StringAttr(scope)})

    def verify_(self) -> None:
        if self.scope.data not in BARRIER_SCOPES:
            scopes = ", ".join(BARRIER_SCOPES)
            raise VerifyException(f"no barrier of scope {self.scope.data!r}; it is one of {scopes}")
