"""Drop what the bounds decide: loops of one iteration, tails that never bind, conditions that always or never hold.

What the loops and conditions around an op say is known inside: under `min [%n - %i * 64]` a variable is less than
that. Indices and conditions are brought to their simplest form; a load under a condition that never holds is zero, and
a store under one is gone. Blocks may have been dissolved or not. A parallel loop of one iteration stays: it marks a
phase; so does a loop with annotations.

Before:
    tir.for %i = 0 to 1 "a.i" {
      tir.for %j = 0 to 4 min [%i + 4] "a.j" { %x = tir.load %X[%i, %j] where [%j >= 0] : memref<1x4xf32> ... } }
    tir.for %io = 0 to min [(%n + 3) floordiv 4] "b.io" {
      tir.for %ii = 0 to 4 min [%n - %io * 4] "b.ii" { tir.if [%n - %io * 4 - %ii >= 1] { ... } } }
After:
    tir.for %j = 0 to 4 "a.j" { %x = tir.load %X[0, %j] : memref<1x4xf32> ... }
    tir.for %io = 0 to min [(%n + 3) floordiv 4] "b.io" { tir.for %ii = 0 to 4 min [%n - %io * 4] "b.ii" { ... } }
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import Pure

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache, over_positions, over_values
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.index_map import LANE, Condition, IndexMap, IndexMapAttr, IndexSet, IndexSetAttr
from lamina.dialects.index.linear import constant
from lamina.dialects.schedule.nest.edits import substitute
from lamina.dialects.schedule.nest.tails import resolve_bounds
from lamina.dialects.tir.facts import facts_inside, walk_with_facts
from lamina.dialects.tir.ops import AccessOp, BlockOp, ConditionOp, ForOp, FuncOp, IfOp, IndexOp, LoadOp
from lamina.passes.base import Context, ModulePass
from lamina.passes.tir.threads.phases import explicit_indices


@dataclass(frozen=True)
class SimplifyPass(ModulePass):
    name = "tir-simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                simplify_function(func)


def simplify_function(func: FuncOp) -> None:
    """Simplify one kernel in place."""
    explicit_indices(func)
    simplifier = _Simplifier()
    simplifier.run(func.body.block)
    if simplifier.dropped:
        _drop_unused(func.body.block)


def zero(type_: Attribute) -> arith.ConstantOp:
    """The constant that a load gives under a condition that does not hold."""
    return arith.ConstantOp.create(properties={"value": _zero_value(type_)}, result_types=[type_])


def _zero_value(type_: Attribute) -> Attribute:
    if isinstance(type_, VectorType):
        vector = cast("VectorType[AnyFloat]", type_)
        return DenseIntOrFPElementsAttr.from_list(vector, [0] * vector.get_shape()[0])
    if isinstance(type_, IntegerType | IndexType):
        return IntegerAttr(0, cast("IndexType", type_))
    return FloatAttr(0.0, cast("AnyFloat", type_))


@dataclass
class _Simplifier:
    dropped: bool = False
    """Whether an op is gone that used others."""
    decided: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    """Conditions that are constants now."""

    def run(self, block: Block) -> None:
        for op, facts in walk_with_facts(block):
            if isinstance(op, AccessOp):
                self.access(op, facts)
            elif type(op) is ForOp:
                self.loop(op, facts)
            elif isinstance(op, BlockOp | IfOp):
                self.conditional(op, facts)
            elif type(op) is IndexOp:
                self.index(op, facts)
            elif type(op) is ConditionOp:
                self.condition(op, facts)
            elif type(op) is arith.SelectOp and op.cond in self.decided:
                self.dropped = True
                edit.replace(op, [op.lhs if self.decided[op.cond] else op.rhs])

    # -- statements --------------------------------------------------------------------------------------------

    def loop(self, loop: ForOp, facts: Facts) -> None:
        with edit.transaction():
            resolve_bounds(loop, facts)
        if (
            loop.trip == 0
            or _is_empty(loop)
            or (loop.bound_map is not None and facts.given(facts_inside(loop)).contradictory())
        ):
            self.erase(loop)
            return
        once = loop.trip == 1 and not loop.bounds and not loop.attributes
        if once and loop.kind.data not in ("parallel", "thread"):
            with edit.transaction(loop):
                substitute(loop.var, constant(0))
                edit.dissolve(loop)

    def conditional(self, op: BlockOp | IfOp, facts: Facts) -> None:
        conditions = op.conditions()
        kept = facts.all_of(conditions) if conditions else []
        if kept is None or _is_empty(op):
            self.erase(op)
        elif kept != conditions:
            if type(op) is IfOp and not kept:
                edit.dissolve(op)
            else:
                edit.change(op)
                op.set_conditions(kept)

    # -- indices -----------------------------------------------------------------------------------------------

    def access(self, op: AccessOp, facts: Facts) -> None:
        lanes = op.lanes
        if lanes is not None:
            facts = Facts(RangeCache({LANE: (0, lanes - 1)}), facts.conditions)
        conditions = op.conditions()
        kept = facts.all_of(conditions) if conditions else []
        if kept is None:
            self.dropped = True
            if isinstance(op, LoadOp):
                edit.replace(op, zero(op.value_type()))
            else:
                edit.erase(op, safe=False)
            return
        forms = op.forms()
        inside = facts.given(kept)
        simple = [inside.simplify(f) for f in forms]
        if kept != conditions or simple != forms:
            edit.change(op)
            op.set_access(simple, kept)

    def index(self, op: IndexOp, facts: Facts) -> None:
        (form,) = over_values(op.map.data.results, op.operands)
        simple = _with_lanes(facts, op.result.type).simplify(form)
        if simple != form:
            operands, (forms,) = over_positions([[simple]])
            edit.change(op)
            op.operands = operands
            op.properties["map"] = IndexMapAttr(IndexMap(len(operands), forms))

    def condition(self, op: ConditionOp, facts: Facts) -> None:
        conditions = [
            Condition(f, c.equal)
            for f, c in zip(
                over_values([c.form for c in op.set.data.conditions], op.operands), op.set.data.conditions, strict=True
            )
        ]
        kept = _with_lanes(facts, op.result.type).all_of(conditions)
        if kept == conditions or (not kept and op.result.type != i1):
            return
        if kept:
            operands, (forms,) = over_positions([[c.form for c in kept]])
            edit.change(op)
            op.operands = operands
            op.properties["set"] = IndexSetAttr(
                IndexSet(len(operands), tuple(Condition(f, c.equal) for f, c in zip(forms, kept, strict=True)))
            )
            return
        answer = arith.ConstantOp(IntegerAttr(int(kept is not None), i1))
        self.decided[answer.result] = kept is not None
        self.dropped = True
        edit.replace(op, answer)

    def erase(self, op: Operation) -> None:
        self.dropped = True
        edit.erase(op, safe=False)


def _with_lanes(facts: Facts, type_: Attribute) -> Facts:
    if not isinstance(type_, VectorType):
        return facts
    return Facts(RangeCache({LANE: (0, type_.get_shape()[0] - 1)}), facts.conditions)


def _is_empty(op: Operation) -> bool:
    """Whether a loop, block or condition has no statement."""
    return isinstance(op, ForOp | BlockOp | IfOp) and not any(b.ops for r in op.regions for b in r.blocks)


def _drop_unused(block: Block) -> None:
    """Remove values that nobody uses, backwards, so that what they were made of goes too, and what is left empty."""
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        for region in op.regions:
            for inner in region.blocks:
                _drop_unused(inner)
        unused = not any(r.uses for r in op.results) and (isinstance(op, LoadOp) or op.has_trait(Pure))
        if op.results and unused or _is_empty(op):
            edit.erase(op, safe=False)
        op = previous
