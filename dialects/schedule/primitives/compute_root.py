"""compute_root: a stage that compute_at has moved into a loop of its consumer, back at the top and computed whole.

for i: (for t in 3: P[t] = A[i + t]), C[i] = P[0] + P[2]        becomes
for g: P[g] = A[g]        and        for i: C[i] = P[i] + P[i + 2]
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.schedule.families import StageLoopsBase
from lamina.dialects.schedule.nest.attachment import Attachment
from lamina.dialects.schedule.nest.decompose import in_loops
from lamina.dialects.schedule.nest.edits import (
    accesses,
    index_forms,
    loads_of,
    reduction_loops,
    stage_block,
    stage_buffers,
    statements_of,
    stores_beyond,
    stores_of,
    substitute_in,
)
from lamina.dialects.schedule.nest.legality import belongs, own_loops
from lamina.dialects.schedule.nest.normal_form import NormalForm, normal_form
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.nest.scopes import check_scope
from lamina.dialects.schedule.primitive import ScheduleState
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, buffer_type, extents_of, shape_with, type_of
from lamina.dialects.tir.ops import BlockOp, ConditionOp, ForOp, FuncOp, IndexOp, enclosing_loops


@irdl_op_definition
class ComputeRootOp(StageLoopsBase):
    """A stage that compute_at has moved into a loop of its consumer, computed whole before it again.

    Before: `for i: (for t in 2: P[t] = A[i + t]), C[i] = P[0] + P[1]`
    After `te.compute_root "P" [1]`: `for g: P[g] = A[g]`, `for i: C[i] = P[i] + P[i + 1]`

    Nothing changes where the stage stands at the top already.
    """

    name = "te.compute_root"

    def apply(self, state: ScheduleState) -> None:
        state.bind(self.results, compute_root(state.func, self.stage.data, state.attached))


def compute_root(func: FuncOp, stage: str, attached: dict[str, Attachment | None]) -> list[ForOp]:
    """Take a stage out of its consumer's loops. Returns the loops around it, which are all its own."""
    what = f"compute_root of {stage!r}"
    block = stage_block(func, stage)
    buffers = stage_buffers(func, stage)
    home = func.body.block
    if stage not in attached and not any(isinstance(b.owner, AllocOp) and b.owner.parent is not home for b in buffers):
        return enclosing_loops(block)
    attachment = attached.get(stage)
    if attachment is None:
        raise ScheduleError(f"{what}: it was not compute_at that has put it into a loop")
    base = attachment.base()
    nest = _nest_to_leave(func, stage, attachment.extents, base, what)
    back = normal_form(block, buffers[0], what)
    tile = back.loops if back is not None else own_loops(block, buffers[0], what)[: len(base)]
    whole = [ForOp.upto([e], v.axis.data, hint=v.var.name_hint) for e, v in zip(attachment.extents, tile, strict=True)]
    to_whole: dict[Atom, Linear] = {t.var: Linear.dim(g.var) - b for t, g, b in zip(tile, whole, base, strict=True)}
    around = {v.var for v in enclosing_loops(block)} - {v.var for v in reduction_loops(block)}
    if any(around.intersection(f.dims()) for f in _forms_of(block, back, to_whole)):
        raise ScheduleError(f"{what}: what it computes for an iteration cannot be said without the loops around it")
    if back is not None:
        back.apply()
    readers = [o for b in buffers for o in loads_of(b) if not belongs(o, block)]
    loops = own_loops(block, buffers[0], what)
    reductions: list[ForOp] = []
    ranges = RangeCache()
    for v in loops[len(base) :]:
        limits = [e.substitute(to_whole, ranges) for e in v.limits()]
        reductions.append(ForOp.upto(limits, v.axis.data, reduction=True, hint=v.var.name_hint))
        to_whole[v.var] = Linear.dim(reductions[-1].var)
    _substitute(
        block, to_whole, Facts(ranges, [Condition(e - Linear.dim(g.var) - 1) for g in whole for e in g.limits()])
    )
    for op in (o for b in buffers for o in accesses(block, b)):
        op.set_access([Linear.dim(g.var) for g in whole], op.conditions())
    for op in readers:
        op.set_access([f + b for f, b in zip(op.forms(), base, strict=True)], op.conditions())
    outermost: Operation = loops[0] if loops else block
    edit.take(block)
    if loops:
        edit.erase(outermost, safe=False)
    moved = in_loops([*whole, *reductions], block)
    edit.insert_before(nest, moved)
    for b in buffers:
        _enlarge(b, attachment.extents, moved)
    del attached[stage]
    return enclosing_loops(block)


def _nest_to_leave(func: FuncOp, stage: str, extents: Sequence[Linear], base: Sequence[Linear], what: str) -> Operation:
    """The statement of the function in which a stage stands.

    Raises ScheduleError where the stage cannot be computed whole before it, IllegalError where it reads what is not
    complete there.
    """
    block, buffers, home = stage_block(func, stage), stage_buffers(func, stage), func.body.block
    for owner in (b.owner for b in buffers):
        if isinstance(owner, AllocOp):
            check_scope(owner.scope.data, extents, what)
    around = {v.var for v in enclosing_loops(block)}
    if any(v not in around and v not in home.args for f in base for v in f.dims()):
        raise ScheduleError(f"{what}: the loops that it was computed in are no longer there")
    if any(len(base) != len(extents_of(b)) for b in buffers):
        raise ScheduleError(f"{what}: its layout was transformed after it was moved")
    if any(not belongs(o, block) for b in buffers for o in stores_of(b)):
        raise ScheduleError(f"{what}: a part of it is computed elsewhere")
    (nest,) = statements_of([block], home)
    read = dict.fromkeys(o.buffer_value() for o in accesses(block) if isinstance(o, LoadOp))
    for b in (b for b in read if b not in buffers):
        name = b.name_hint or "a buffer"
        if isinstance(b.owner, AllocOp) and b.owner.parent is not home:
            raise ScheduleError(f"{what}: it reads {name}, which lives in a loop")
        if any(not w.is_before_in_block(nest) for w in statements_of(stores_of(b), home)):
            refuse(f"{what}: it reads {name}, which is not complete before the loops that it would leave")
    return nest


def _forms_of(block: BlockOp, back: NormalForm | None, mapping: dict[Atom, Linear]) -> list[Linear]:
    """The forms that the index arithmetic of a stage becomes."""
    ranges = RangeCache()
    forms = index_forms(block, {s.buffer_value() for s in stores_beyond(block)})
    forms += [f for v in reduction_loops(block) for f in v.limits()]
    return [(f if back is None else back.form(f)).substitute(mapping, ranges) for f in forms]


def _substitute(block: BlockOp, mapping: dict[Atom, Linear], facts: Facts) -> None:
    """Replace loop variables in a stage, and drop the conditions that say no more than its new loops."""
    ranges = RangeCache()
    for op in all_ops(block):
        if isinstance(op, (AccessOp, IndexOp, ConditionOp, ConditionalBase)):
            substitute_in(op, mapping, ranges)
        if isinstance(op, AccessOp):
            op.set_access(op.forms(), [c for c in op.conditions() if not facts.proves(c)])
    block.set_conditions([c for c in block.conditions() if not facts.proves(c)])


def _enlarge(buffer: SSAValue, extents: Sequence[Linear], nest: Operation) -> None:
    """A buffer of other extents, before a statement."""
    old = buffer.owner
    assert isinstance(old, AllocOp) and nest.parent is not None
    type_ = buffer_type(shape_with(extents), type_of(buffer).element_type)
    new = AllocOp.make(old.stage.data, type_, old.scope.data, extents)
    new.attributes |= old.attributes
    new.location = old.location
    hint = buffer.name_hint
    buffer.replace_all_uses_with(new.result)
    new.result.name_hint = hint
    edit.insert_before(nest, new)
    edit.erase(old)
