"""rfactor: a reduction in two stages, so that the iterations of one of its loops no longer wait for each other.

    C = sum over ko, ki        becomes    R[ki] = sum over ko        then    C = sum over ki of R[ki]

The stage's nest stays where it is and becomes the first stage, `<stage>.rf`; the second, which keeps the name, follows
in a nest of its own. What the partial sums are added up in is another order: that is what the caller asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.schedule.nest.decompose import (
    copy_of_loop,
    decompose_init,
    in_loops,
    initial_conditions,
    substitute_all,
)
from lamina.dialects.schedule.nest.edits import accesses, reduction_loops, stage_block, unique_axis, unique_stage
from lamina.dialects.schedule.nest.legality import belongs
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.nest.updates import Update, neutral, update_of
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState, parse_at, parse_count, print_at
from lamina.dialects.tir.checks import DIVISIONS, CheckOp
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type, extents_of, shape_with, type_of
from lamina.dialects.tir.ops import BlockOp, ConditionOp, ForOp, FuncOp, enclosing_loops
from lamina.dialects.value_names import value_name


@irdl_op_definition
class RFactorOp(PrimitiveOp):
    """A reduction in two stages: each iteration of one of its loops reduces on its own, then the results are combined.

    Before: `for i: for ko: for ki in 4: C[i] += A[i, ko * 4 + ki]`
    After `te.rfactor "C" at %ki axis 0 [3]`: `for i: for ko: for ki in 4: R[ki, i] += A[i, ko * 4 + ki]`, then
    `for i: for ki in 4: C[i] += R[ki, i]`

    The nest that was there becomes the new stage `C.rf`, whose loops the primitive gives; the loops of `C` are new.
    """

    name = "te.rfactor"
    stage = prop_def(StringAttr)
    loop = operand_def(LOOP)
    axis = prop_def(IntegerAttr)
    loops = var_result_def(LOOP)

    @staticmethod
    def make(stage: str, loop: SSAValue, axis: int, count: int) -> RFactorOp:
        return RFactorOp.create(
            operands=[loop],
            properties={"stage": StringAttr(stage), "axis": IntegerAttr(axis, i64)},
            result_types=[LOOP] * count,
        )

    def print(self, printer: Printer) -> None:
        print_at(printer, self.stage.data, self.loop)
        printer.print_string(f" axis {self.axis.value.data} [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> RFactorOp:
        stage, loop = parse_at(parser, "the stage's name")
        parser.parse_keyword("axis")
        axis = parser.parse_integer(allow_boolean=False)
        return cls.make(stage, loop, axis, parse_count(parser))

    def apply(self, state: ScheduleState) -> None:
        state.bind(self.results, rfactor(state.func, self.stage.data, state.loop(self.loop), self.axis.value.data))


def rfactor(func: FuncOp, stage: str, loop: ForOp, factor_axis: int) -> list[ForOp]:
    """Factor a reduction loop out of a stage. Returns the loops of the new stage, which holds a result per iteration.

    `factor_axis` is the dimension of the new buffer that numbers the iterations; negative counts from the end.
    """
    what = f"rfactor of {stage!r} at {loop.axis.data!r}"
    block = stage_block(func, stage)
    loops = enclosing_loops(block)
    reductions = reduction_loops(block)
    if all(v is not loop for v in loops):
        raise ScheduleError(f"{what}: it is no loop of the stage")
    if all(v is not loop for v in reductions):
        raise ScheduleError(f"{what}: it is no reduction loop of the stage")
    update = update_of(block, what)
    buffer = update.store.buffer_value()
    rank = len(update.store.forms())
    if not -rank - 1 <= factor_axis <= rank:
        raise ScheduleError(f"{what}: the result has rank {rank}, so the factor axis is one of {-rank - 1} ... {rank}")
    limits = loop.limits()
    free = [f for f in limits if all(isinstance(d, BlockArgument) and d.block is func.body.block for d in f.dims())]
    if not free:
        raise ScheduleError(f"{what}: its extent depends on other loops")
    root = _root(loops, reductions)
    own = loops[root:]
    if any(not belongs(o, block) for o in accesses(own[0], buffer)):
        raise ScheduleError(f"{what}: the result is also used elsewhere in the loop {own[0].axis.data!r}")
    if any(loop.var in v.bounds for v in own if v not in reductions):
        raise ScheduleError(f"{what}: the extent of a loop that is no reduction depends on it")
    partial = _partial_results(stage, block, own, loop, free[0], factor_axis, update.store)
    partial.alloc.properties["stage"] = StringAttr(unique_stage(func, f"{stage}.rf"))
    tails = [Condition(f - Linear.dim(loop.var) - 1) for f in limits if f is not free[0]]
    _first_stage(func, block, own, loop, free[0], tails, update, partial)
    return enclosing_loops(block)


class Partial(NamedTuple):
    """The buffer of partial results, and the index in it of the one that an iteration adds to."""

    alloc: AllocOp
    forms: list[Linear]


def _root(loops: Sequence[ForOp], reductions: Sequence[ForOp]) -> int:
    """Index of the first stage's root loop: the outermost reduction, or a loop around it that holds nothing else."""
    root = loops.index(reductions[0])
    while root and len(loops[root - 1].body.block.ops) == 1 and loops[root].parent_op() is loops[root - 1]:
        root -= 1
    return root


def _partial_results(
    name: str, block: BlockOp, own: Sequence[ForOp], loop: ForOp, extent: Linear, factor_axis: int, store: StoreOp
) -> Partial:
    """A buffer of a result for each iteration of a loop, without the dimensions that the nest leaves as they are."""
    buffer = store.buffer_value()
    inside = {v.var for v in own}
    kept = [d for d, f in enumerate(store.forms()) if not f.dims() or inside.intersection(f.dims())]
    rank = len(store.forms())
    position = factor_axis if factor_axis >= 0 else rank + 1 + factor_axis
    position = sum(d < position for d in kept)
    whole = extents_of(buffer)
    extents = [whole[d] for d in kept]
    extents.insert(position, extent)
    forms = [store.forms()[d] for d in kept]
    forms.insert(position, Linear.dim(loop.var))
    scope = buffer.owner.scope.data if isinstance(buffer.owner, AllocOp) else "global"
    type_ = buffer_type(shape_with(extents), type_of(buffer).element_type)
    alloc = AllocOp.make(name, type_, scope, extents)
    alloc.result.name_hint = value_name(f"{name}_rf")
    alloc.location = block.location
    return Partial(alloc, forms)


def _first_stage(
    func: FuncOp,
    block: BlockOp,
    own: Sequence[ForOp],
    loop: ForOp,
    extent: Linear,
    tails: Sequence[Condition],
    update: Update,
    partial: Partial,
) -> None:
    """Let a nest compute partial results, and another one after it combine them."""
    stage, name = block.stage.data, partial.alloc.stage.data
    old_names = [v.axis.data for v in own]
    for v in own:
        v.properties["axis"] = StringAttr(unique_axis(func, _renamed(v.axis.data, stage, name)))
    reductions = reduction_loops(block)
    others = [v for v in reductions if v is not loop]
    conditions = [*block.conditions(), *tails]
    elements = initial_conditions(block, {v.var: constant(0) for v in reductions})
    second = _second_stage(func, block, own, old_names, loop, extent, update, partial)
    place = own[0].parent
    assert place is not None
    edit.insert_after(own[0], second)
    edit.insert_before(own[0], partial.alloc)

    complete = _starts_everywhere(loop, extent, others, conditions)
    del loop.properties["reduction"]
    loop.set_min_bounds([] if extent.is_constant else [extent])
    block.properties["stage"] = StringAttr(name)
    if not block.init.blocks:
        start = neutral(update.combine, update.term.type)
        init = Block([start, StoreOp.make(start.result, update.store.buffer_value(), update.store.forms())])
        block.init.add_block(init)
    for access in accesses(block, update.store.buffer_value()):
        access.operands[access.buffer_position()] = partial.alloc.result
        access.set_access(partial.forms)
    if not others and complete:
        # One term a partial result: nothing to add to.
        update.store.operands[0] = update.term
        for op in (update.combine, update.load):
            edit.erase(op)
        block.init.erase_block(block.init.blocks[0])
    elif not complete:
        # An iteration of the loop may have no term at all, and then starts none.
        block.set_conditions(elements)
        if _take_neutral(block, loop, others, conditions, update):
            return
        outermost = next(v for v in own if v in others or v is loop)
        decompose_init(block, outermost)
    block.set_conditions(conditions)


def _take_neutral(
    block: BlockOp, loop: ForOp, others: Sequence[ForOp], conditions: Sequence[Condition], update: Update
) -> bool:
    """Let iterations that have no term add what changes nothing, so that each partial result starts with the first.

    Returns False, with nothing changed, where that cannot be: a loop has no extent but one that depends on the
    factored loop, or a term divides, for which nothing can be read in its place.
    """
    ops = [op for op in block.body.block.ops if op not in (update.load, update.combine, update.store)]
    if any(isinstance(op, (*DIVISIONS, CheckOp)) or op.regions for op in ops):
        return False
    tails: list[Condition] = []
    free: dict[ForOp, list[Linear]] = {}
    for v in others:
        free[v] = [f for f in v.limits() if loop.var not in f.dims()]
        if not free[v]:
            return False
        tails += [Condition(f - Linear.dim(v.var) - 1) for f in v.limits() if f not in free[v]]
    for v, limits in free.items():
        v.set_min_bounds([f for f in limits if not f.is_constant or v.is_dynamic])
    asked = [c for c in [*conditions, *tails] if c not in block.conditions()]
    for op in ops:
        if isinstance(op, LoadOp):
            op.set_access(op.forms(), [*op.conditions(), *(c for c in asked if c not in op.conditions())])
    condition, nothing = ConditionOp.of(asked), neutral(update.combine, update.term.type)
    term = arith.SelectOp(condition.result, update.term, nothing.result)
    edit.insert_before(update.combine, condition, nothing, term)
    position = 1 - list(update.combine.operands).index(update.load.result)
    update.combine.operands[position] = term.result
    return True


def _renamed(axis: str, stage: str, name: str) -> str:
    """An axis name of a stage, whose fused loops have several parts, for a stage of another name."""
    parts = [f"{name}{p.removeprefix(stage)}" if p.startswith(f"{stage}.") else p for p in axis.split("+")]
    return "+".join(parts)


def _starts_everywhere(loop: ForOp, extent: Linear, others: Sequence[ForOp], conditions: Sequence[Condition]) -> bool:
    """Whether each iteration of a loop has a term in the first iteration of the other reduction loops."""
    first: dict[Atom, Linear] = {v.var: constant(0) for v in others}
    ranges = RangeCache()
    wanted = [c for c in conditions if loop.var in c.form.dims()]
    wanted += [Condition(b - 1) for v in others for b in v.limits()]
    for c in wanted:
        bounds = c.form.substitute(first, ranges).range(ranges)
        if c.equal or bounds is None or bounds[0] < 0:
            return False
    return True


def _second_stage(
    func: FuncOp,
    block: BlockOp,
    own: Sequence[ForOp],
    names: Sequence[str],
    loop: ForOp,
    extent: Linear,
    update: Update,
    partial: Partial,
) -> Operation:
    """The nest that combines partial results, under the names that the loops had."""
    mapping: dict[Atom, Linear] = {}
    loops: list[ForOp] = []
    reductions = reduction_loops(block)
    for v, name in zip(own, names, strict=True):
        if v not in reductions:
            loops.append(copy_of_loop(v, unique_axis(func, name), mapping))
            mapping[v.var] = Linear.dim(loops[-1].var)
    name = names[next(n for n, v in enumerate(own) if v is loop)]
    last = ForOp.upto([extent], unique_axis(func, name), reduction=True, hint=loop.var.name_hint)
    mapping[loop.var] = Linear.dim(last.var)
    # A vectorized loop holds its block and nothing else.
    inner = next((n for n, v in enumerate(loops) if v.kind.data == "vectorized"), len(loops))
    loops.insert(inner, last)
    values: dict[SSAValue, SSAValue] = {}
    result = update.load.clone()
    term = LoadOp.make(partial.alloc.result, partial.forms)
    values[update.load.result], values[update.term] = result.result, term.result
    combined = update.combine.clone(values)
    values[update.combine.results[0]] = combined.results[0]
    body = Block([result, term, combined, update.store.clone(values)])
    init = None
    if block.init.blocks:
        init, started = Block(), dict[SSAValue, SSAValue]()
        init.add_ops([op.clone(started) for op in block.init.blocks[0].ops])
    zero: dict[Atom, Linear] = {v.var: constant(0) for v in reductions if v is not loop}
    conditions = initial_conditions(block, zero | mapping | {loop.var: constant(0)})
    for ops in (body.ops, init.ops if init is not None else ()):
        substitute_all(ops, mapping)
    second = BlockOp.make(block.stage.data, init, body, conditions)
    second.location = block.location
    return in_loops(loops, second)
