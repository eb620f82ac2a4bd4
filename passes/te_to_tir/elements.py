"""The equation of a te.compute as the body of a block: reads become loads, indices tir's, arithmetic stays."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear
from lamina.dialects.te import ops as te
from lamina.dialects.tir import ops as tir
from lamina.dialects.tir.checks import CheckOp
from lamina.passes.te_to_tir.lowering import Lowering
from lamina.passes.te_to_tir.rules import elements


class ElementBody:
    """The body of a block that is being filled, and what the values of the equation are in it."""

    def __init__(self, target: Block, variables: dict[SSAValue, SSAValue], lowering: Lowering) -> None:
        self.lowering = lowering
        self.values = lowering.sizes | variables
        self.yielded: list[SSAValue] | None = None
        self._target = target
        self._indices = set(self.values)

    def put(self, new: Operation, old: Operation) -> None:
        """Append what takes the place of an op."""
        new.location = old.location
        self._target.add_op(new)
        for before, after in zip(old.results, new.results, strict=True):
            self.values[before] = after
            after.name_hint = before.name_hint

    def operand(self, value: SSAValue) -> SSAValue:
        """An operand of arithmetic; a loop variable, size or time enters arithmetic only through tir.index."""
        time = self.lowering.times.get(value)
        if time is None and value not in self._indices:
            return self.values.get(value, value)
        index = tir.IndexOp.of(time or Linear.dim(self.values[value]))
        self._target.add_op(index)
        return index.result

    def forms(self, results: Sequence[Linear], operands: Sequence[SSAValue]) -> list[Linear]:
        """Index forms over operands of the equation, in the body."""
        return self.lowering.forms(results, [self._as_index(v) for v in operands])

    def conditions(self, found: Sequence[Condition], operands: Sequence[SSAValue]) -> list[Condition]:
        """Conditions over operands of the equation, in the body."""
        forms = self.forms([c.form for c in found], operands)
        return [Condition(f, c.equal) for f, c in zip(forms, found, strict=True)]

    def _as_index(self, value: SSAValue) -> SSAValue:
        found = self.values.get(value, value)
        assert isinstance(found.type, IndexType)
        return found


def lower_body(source: Block, target: Block, variables: dict[SSAValue, SSAValue], lowering: Lowering) -> list[SSAValue]:
    """Copy an equation with reads as loads; returns what it yields."""
    body = ElementBody(target, variables, lowering)
    for op in source.ops:
        new = elements.lower(op, body)
        if new is not None:
            body.put(new, op)
    if body.yielded is None:
        raise VerifyException("te-to-tir: a te.compute without te.yield")
    return body.yielded


@elements.lowers(te.YieldOp)
def yields(op: te.YieldOp, body: ElementBody) -> None:
    """The value that the block stores, or adds to a reduction."""
    body.yielded = [body.operand(v) for v in op.values]


@elements.lowers(te.ReadOp)
def read(op: te.ReadOp, body: ElementBody) -> Operation:
    """tir.load from the tensor's place, under the guard's conditions."""
    place = body.lowering.places[op.tensor]
    conditions = [] if op.guard is None else body.conditions(op.guard.data.conditions, op.indices)
    return tir.LoadOp.make(place.buffer, place.at(body.forms(op.map.data.results, op.indices)), conditions)


@elements.lowers(te.IndexOp)
def index(op: te.IndexOp, body: ElementBody) -> Operation:
    """tir.index of the loops' variables."""
    (form,) = body.forms(op.map.data.results, op.indices)
    return tir.IndexOp.of(form)


@elements.lowers(te.ConditionOp)
def condition(op: te.ConditionOp, body: ElementBody) -> Operation:
    """tir.condition on the loops' variables."""
    return tir.ConditionOp.of(body.conditions(op.set.data.conditions, op.indices))


@elements.lowers(te.CheckOp)
def check(op: te.CheckOp, body: ElementBody) -> Operation:
    """tir.check of the same message."""
    value, holds = (body.operand(v) for v in op.operands)
    return CheckOp.make(value, holds, op.message.data)
