"""Checks in tir: `tir-to-llvm` stores a code into the program's status block where one fails."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, VectorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition

from lamina.dialects.checks import CheckOpBase
from lamina.dialects.index.index_map import Condition
from lamina.dialects.tir.ops import ConditionOp

DIVISIONS = (
    *(arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp),
    *(arith.FloorDivSIOp, arith.CeilDivSIOp, arith.CeilDivUIOp),
)
"""Ops that have no result for a divisor of zero, not even one that nobody looks at."""


@irdl_op_definition
class CheckOp(CheckOpBase):
    """A value; the program ends in an error where the condition fails: `tir.check %b, %ok "message" : i32`."""

    name = "tir.check"


def unless(condition: SSAValue, active: Sequence[Condition], lanes: int | None = None) -> list[Operation]:
    """Ops whose last one is the condition, or true where it is not asked for: beyond a tail, under a guard."""
    type_: Attribute = i1 if lanes is None else VectorType(i1, [lanes])
    true = IntegerAttr(1, i1) if lanes is None else DenseIntOrFPElementsAttr.from_list(VectorType(i1, [lanes]), [1])
    asked = ConditionOp.of(active, lanes)
    one = arith.ConstantOp.create(properties={"value": true}, result_types=[type_])
    idle = arith.XOrIOp.create(operands=[asked.result, one.result], result_types=[type_])
    either = arith.OrIOp.create(operands=[condition, idle.result], result_types=[type_])
    return [asked, one, idle, either]
