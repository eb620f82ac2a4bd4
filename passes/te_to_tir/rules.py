"""The tables of `te-to-tir`: one for each place where ops of te stand. Rules stand in the files of their subjects.

    @stages.lowers(te.ComputeOp)        in a te.func: from an op to the statements that take its place, one by one
    @elements.lowers(te.ReadOp)         in a te.compute: from an op to what computes the same in the body of a block
    @calls.lowers(te.CallOp)            in @main: from an op on tensors to ops on buffers

An outside dialect's op that computes an element is lowered by a rule of `elements`; `copied` is that of an op which tir
has too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from xdsl.dialects.arith import Arith
from xdsl.dialects.math import Math
from xdsl.ir import Operation

from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.passes.rules.conversion import Conversion, ConversionRule, where_written

if TYPE_CHECKING:
    from lamina.passes.te_to_tir.calls import MainBuffers
    from lamina.passes.te_to_tir.elements import ElementBody
    from lamina.passes.te_to_tir.lowering import Lowering

stages: Conversion[Lowering, Iterable[Operation]] = Conversion("te-to-tir", "a te.func")
elements: Conversion[ElementBody, Operation | None] = Conversion("te-to-tir", "a te.compute")
calls: Conversion[MainBuffers, Iterable[Operation]] = Conversion("te-to-tir", "@main")


@elements.lowers(*Arith.operations, *Math.operations)
def copied(op: Operation, body: ElementBody) -> Operation:
    """The same op, on the values of the body."""
    return type(op).create(
        operands=[body.operand(v) for v in op.operands],
        result_types=list(op.result_types),
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )


def _apply(primitive: PrimitiveOp, state: ScheduleState) -> None:
    state.apply(primitive)


def _edit_of(op: type[Operation]) -> ConversionRule | None:
    """The rule that a schedule primitive states: its edit of the loops."""
    if not issubclass(op, PrimitiveOp) or "name" not in vars(op):
        return None
    text = (op.__doc__ or "").strip().partition("\n")[0]
    return ConversionRule(op, _apply, text, where_written(op.apply))


primitives: Conversion[ScheduleState, None] = Conversion("te-to-tir", "a te.schedule", states=_edit_of)
