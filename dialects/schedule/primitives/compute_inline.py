"""compute_inline: a stage's equation in the place of every read of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.arith import ConstantOp, SelectOp
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.schedule.nest.edits import (
    accesses,
    alloc_of,
    erase_empty,
    erase_nest,
    loads_of,
    scalar_only,
    stage_block,
    stage_buffers,
    stores_of,
    substitute_in,
)
from lamina.dialects.schedule.nest.legality import own_nest, sees
from lamina.dialects.schedule.nest.normal_form import normal_form
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.tir.checks import CheckOp, unless
from lamina.dialects.tir.memory import AccessOp, LoadOp, StoreOp, type_of
from lamina.dialects.tir.ops import ConditionOp, FuncOp, IndexOp, enclosing_loops


@irdl_op_definition
class ComputeInlineOp(PrimitiveOp):
    """A stage's equation in the place of each read of it.

    Before: `B[i] = A[i] + 1`, `C[i] = B[i] * 2`    After: `C[i] = (A[i] + 1) * 2`
    """

    name = "te.compute_inline"
    stage = prop_def(StringAttr)
    assembly_format = "$stage attr-dict"

    @staticmethod
    def make(stage: str) -> ComputeInlineOp:
        return ComputeInlineOp.create(properties={"stage": StringAttr(stage)})

    def apply(self, state: ScheduleState) -> None:
        compute_inline(state.func, self.stage.data)


def compute_inline(func: FuncOp, stage: str) -> None:
    """Put a stage's equation in the place of every read of it."""
    what = f"compute_inline of {stage!r}"
    block = stage_block(func, stage)
    buffers = stage_buffers(func, stage)
    allocs = [alloc_of(b, stage) for b in buffers]
    if block.init.blocks or any(v.is_reduction for v in enclosing_loops(block)):
        raise ScheduleError(f"{what}: a reduction has no equation to inline")
    for buffer in buffers:
        scalar_only(accesses(func, buffer))
    stores = [s for b in buffers for s in stores_of(b)]
    if len(stores) != len(buffers) or any(s.conditions() for s in stores):
        raise ScheduleError(f"{what}: it is stored in more than one place or under a condition")
    readers = [o for b in buffers for o in loads_of(b)]
    back = normal_form(block, buffers[0], what)
    if back is not None:
        back.apply()
    variables = _inline_variables(stores[0], what)
    own_nest(block, what)
    for read in accesses(block.body.block):
        if not all(sees(reader, read.buffer_value()) for reader in readers):
            raise ScheduleError(f"{what}: it reads {read.buffer_value().name_hint}, which its readers do not see")
    for store in stores:
        body = _needed(block.body.block, store)
        for load in _merge_equal(loads_of(store.buffer_value())):
            forms = load.forms()
            mapping: dict[Atom, Linear] = {v: f for v, f in zip(variables, forms, strict=True) if v is not None}
            result = _clone_at(body, store.value, mapping, load)
            load.result.replace_all_uses_with(result)
            if result.name_hint is None:
                result.name_hint = load.result.name_hint
            edit.erase(load)
    erase_nest(block)
    for alloc in allocs:
        home = alloc.parent_op()
        edit.erase(alloc)
        erase_empty(home)


def _needed(body: Block, store: StoreOp) -> list[Operation]:
    """The ops of an equation that one of its results is made of, in order."""
    needed = {store.value}
    found: list[Operation] = []
    for op in reversed(list(body.ops)):
        if any(r in needed for r in op.results):
            needed.update(op.operands)
            found.append(op)
    return found[::-1]


def _merge_equal(loads: Sequence[LoadOp]) -> list[LoadOp]:
    """One load for those of a block that read the same element, so that inlining copies the equation once."""
    groups: dict[tuple[int, tuple[Linear, ...], tuple[Condition, ...]], list[LoadOp]] = {}
    for load in loads:
        key = (id(load.parent), tuple(load.forms()), tuple(load.conditions()))
        groups.setdefault(key, []).append(load)
    kept: list[LoadOp] = []
    for group in groups.values():
        first = group[0]
        if len(group) > 1:
            assert first.parent is not None
            members = set(group)
            first = next(op for op in first.parent.ops if isinstance(op, LoadOp) and op in members)
            for other in members - {first}:
                other.result.replace_all_uses_with(first.result)
                edit.erase(other)
        kept.append(first)
    return kept


def _inline_variables(store: StoreOp, what: str) -> list[SSAValue | None]:
    variables: list[SSAValue | None] = []
    shape = type_of(store.buffer_value()).get_shape()
    for form, extent in zip(store.forms(), shape, strict=True):
        if form.is_constant and extent == 1:
            variables.append(None)
            continue
        if form.const or list(form.terms.values()) != [1]:
            raise ScheduleError(f"{what}: it has been split already")
        (atom,) = form.terms
        if not isinstance(atom, SSAValue) or not isinstance(atom.owner, Block):
            raise ScheduleError(f"{what}: it has been split already")
        variables.append(atom)
    return variables


def _clone_at(body: Sequence[Operation], value: SSAValue, mapping: dict[Atom, Linear], load: LoadOp) -> SSAValue:
    """Copy a stage's body before a load of it; under the load's guard the copies read nothing and give zero."""
    ranges = RangeCache()
    guard = load.conditions()
    values: dict[SSAValue, SSAValue] = {}
    for op in body:
        clone = op.clone(values)
        edit.insert_before(load, clone)
        if isinstance(clone, (AccessOp, IndexOp, ConditionOp)):
            substitute_in(clone, mapping, ranges)
        if isinstance(clone, AccessOp) and guard:
            own = clone.conditions()
            clone.set_access(clone.forms(), [*own, *(c for c in guard if c not in own)])
        elif isinstance(clone, CheckOp) and guard:
            asked = unless(clone.condition, guard)
            edit.insert_before(clone, *asked)
            clone.operands[1] = asked[-1].results[0]
    result = values.get(value, value)
    if guard and not isinstance(result.owner, LoadOp):
        condition = ConditionOp.of(guard)
        zero = ConstantOp.create(properties={"value": zero_of(result.type)}, result_types=[result.type])
        select = SelectOp.create(operands=[condition.result, result, zero.results[0]], result_types=[result.type])
        for op in (condition, zero, select):
            edit.insert_before(load, op)
        result = select.results[0]
    return result


def zero_of(type_: Attribute) -> Attribute:
    """The zero of a scalar type."""
    if isinstance(type_, (IntegerType, IndexType)):
        return IntegerAttr(0, cast("IntegerType", type_))
    return FloatAttr(0.0, cast("AnyFloat", type_))
