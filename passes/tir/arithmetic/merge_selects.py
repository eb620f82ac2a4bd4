"""tir-merge-selects: a number that is chosen only where a condition holds need not be chosen by it before.

Before:
    %c = tir.condition [%i - 1 >= 0] : i1
    %a = arith.select %c, %x, %zero : vector<16xf32>
    %b = arith.mulf %a, %s : vector<16xf32>
    %d = tir.condition [%i - 1 >= 0, %i * -1 + 4 >= 0] : i1
    %y = arith.select %d, %b, %zero : vector<16xf32>
After:
    %b = arith.mulf %x, %s : vector<16xf32>
    %d = tir.condition [%i - 1 >= 0, %i * -1 + 4 >= 0] : i1
    %y = arith.select %d, %b, %zero : vector<16xf32>

Stages that are inlined where they are read under a condition, into padding or beside each other, give one choice for
each of them. Only ops that go lane by lane and cannot fail stand between; a load has a condition of its own, and stays
as it is. The equations say it of each op by itself; a walk applies them, since any number of ops may stand between, and
since a condition may say more than another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Operation

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.linear import Linear
from lamina.dialects.rules.terms import var
from lamina.dialects.scalar import terms
from lamina.dialects.tir.ops import BroadcastOp, ConditionOp, SelectOp
from lamina.dialects.tir.vectors import CastOp
from lamina.passes.base import Context, ModulePass
from lamina.passes.rules.rewriting import Rules

SELECTS = (arith.SelectOp, SelectOp)

a, choice, x, y, z = var("a choice x y z")
number = terms.arith
chosen = number.select(choice, x, y)

sides: list[tuple[Any, Any]] = [(f(chosen), f(x)) for f in (number.negf, terms.math.roundeven)]
for f in (
    *(number.addf, number.subf, number.mulf, number.divf, number.maximumf, number.minimumf),
    *(number.addi, number.subi, number.muli, number.maxsi, number.minsi),
):
    sides += [(f(chosen, a), f(x, a)), (f(a, chosen), f(a, x))]
for f in (*(number.sitofp, number.uitofp, number.fptosi, number.fptoui, number.extui, number.extsi, number.trunci),):
    sides.append((f(chosen), f(x, to=z.dtype)))

choices = Rules("tir-merge-selects")
for within, without in sides:
    choices += number.select(choice, within, z) >> number.select(choice, without, z)

LANE_BY_LANE = (*dict.fromkeys(within.op for within, _ in sides), CastOp, BroadcastOp)
"""Ops that are computed in vain where their result is not chosen, and do no harm there."""

Known = frozenset[tuple[Linear, bool]]


@dataclass(frozen=True)
class MergeSelectsPass(ModulePass):
    name = "tir-merge-selects"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        selects = [o for o in all_ops(op) if type(o) in SELECTS and type(o.operands[0].owner) is ConditionOp]
        if len(selects) < 2:
            return
        # The outermost first: what it says holds for all within.
        for select in reversed(selects):
            if select.parent is not None:
                _merge(select)


def _known(select: Operation) -> Known:
    """The facts that hold where a select takes its first choice."""
    condition = select.operands[0].owner
    assert isinstance(condition, ConditionOp)
    conditions = condition.set.data.conditions
    forms = over_values([c.form for c in conditions], list(condition.indices))
    return frozenset((f, c.equal) for f, c in zip(forms, conditions, strict=True))


def _merge(select: Operation) -> None:
    """Take away the choices in the first operand of one that its condition has decided."""
    waiting: list[tuple[Operation, int, Known]] = [(select, 1, _known(select))]
    while waiting:
        reader, at, known = waiting.pop()
        op = reader.operands[at].owner
        if not isinstance(op, Operation):
            continue
        if type(op) in SELECTS and type(op.operands[0].owner) is ConditionOp:
            within = _known(op)
            if within <= known:
                reader.operands[at] = op.operands[1]
                _drop(op)
                if not _spread(reader):
                    waiting.append((reader, at, known))
            elif op.results[0].has_one_use():
                waiting += [(op, 1, known | within), (op, 2, known)]
        elif type(op) in LANE_BY_LANE and op.results[0].has_one_use():
            waiting += [(op, i, known) for i in range(len(op.operands))]


def _spread(op: Operation) -> bool:
    """Whether an op was a broadcast of a constant: it is a constant of all lanes now."""
    number = op.operands[0].owner
    if type(op) is not BroadcastOp or not isinstance(number, arith.ConstantOp) or op.parent is None:
        return False
    if not isinstance(number.value, (FloatAttr, IntegerAttr)):
        return False
    lanes = DenseIntOrFPElementsAttr.from_list(cast("Any", op.result.type), [number.value.value.data])
    made = arith.ConstantOp(cast("Any", lanes))
    op.parent.insert_op_before(made, op)
    op.result.replace_all_uses_with(made.result)
    op.detach()
    op.erase()
    return True


def _drop(select: Operation) -> None:
    """Erase a choice that nobody uses any more, and its condition."""
    if select.results[0].first_use is not None:
        return
    condition = select.operands[0].owner
    assert isinstance(condition, ConditionOp)
    select.detach()
    select.erase()
    if condition.result.first_use is None:
        condition.detach()
        condition.erase()
