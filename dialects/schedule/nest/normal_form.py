"""A scheduled stage as it was at first: one loop for each dimension of its buffer, then its reduction loops.

Moving a stage asks for a box of elements, so a stage that has been split, fused or reordered is first put back. A store
`B[io * 4 + ii]` says how: the digits of the dimension are the loops (`io = i floordiv 4`, `ii = i mod 4`), and the
dimensions are the digits of a fused loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.digits import inverse
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.schedule.nest.edits import ScheduleError, accesses, function_of, substitute_in, wrap
from lamina.dialects.schedule.nest.legality import own_nest
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.memory import extents_of
from lamina.dialects.tir.ops import AccessOp, BlockOp, ConditionOp, ForOp, IndexOp, StoreOp, loops_and_blocks
from lamina.dialects.value_names import value_name


@dataclass
class NormalForm:
    """A way to put a stage back: its own loops, and their variables over those of the new ones."""

    block: BlockOp
    chain: list[ForOp]
    """The stage's own loops, outermost first."""
    loops: list[ForOp]
    """A new loop for each dimension."""
    mapping: dict[Atom, Linear]
    """The variables of the old spatial loops over those of the new ones."""
    ranges: RangeCache

    def form(self, form: Linear) -> Linear:
        """An index of the scheduled stage over the variables of the new loops."""
        return form.substitute(self.mapping, self.ranges)

    def apply(self) -> None:
        """Put the stage back. The old loops are gone."""
        tails = [Condition(b - Linear.dim(v.var) - 1) for v in self.chain for b in _spatial_bounds(v)]
        reductions: list[ForOp] = []
        for v in self.chain:
            if v.is_reduction:
                limits = [self.form(e) for e in v.limits()]
                new = ForOp.upto(limits, v.axis.data, reduction=True, hint=v.var.name_hint)
                new.attributes |= v.attributes
                self.mapping[v.var] = Linear.dim(new.var)
                reductions.append(new)
        # The new loops may go through elements that no iteration stores: its layout may have gaps.
        store = next(o for o in accesses(self.block.body.block) if isinstance(o, StoreOp))
        tails += [Condition(f - Linear.dim(v.var), True) for f, v in zip(store.forms(), self.loops, strict=True)]
        conditions = [Condition(self.form(c.form), c.equal) for c in [*self.block.conditions(), *tails]]
        for op in self.block.walk():
            if op is not self.block and isinstance(op, (AccessOp, ConditionalBase, ForOp, IndexOp, ConditionOp)):
                substitute_in(op, self.mapping, self.ranges)
        # A dimension of one element is indexed by its loop again, too.
        index = [Linear.dim(v.var) for v in self.loops]
        own = {o.buffer_value() for o in accesses(self.block) if isinstance(o, StoreOp)}
        for op in accesses(self.block):
            if op.buffer_value() in own:
                op.set_access(index, op.conditions())
        self.block.set_conditions(self._left(conditions, {v.var for v in reductions}))
        nest = [*self.loops, *reductions]
        anchor = self.chain[0] if self.chain else self.block
        place, after = anchor.parent, anchor.next_op
        assert place is not None
        edit.take(self.block)
        if self.chain:
            edit.take(anchor)
        top: Operation = nest[0] if nest else self.block
        if nest:
            wrap(nest, Block([self.block]))
        if after is None:
            place.add_op(top)
        else:
            edit.insert_before(after, top)
        if self.chain:
            edit.erase(anchor, safe=False)

    def _left(self, conditions: Sequence[Condition], inner: set[Atom]) -> list[Condition]:
        """The conditions that the new loops do not imply; one on a single dimension bounds that dimension's loop.

        Not so one on variables that are known inside of it only.
        """
        limits = [Condition(e - Linear.dim(v.var) - 1) for v in self.loops for e in v.limits()]
        facts = Facts(self.ranges, limits)
        variables = {v.var for v in self.loops}
        left: list[Condition] = []
        for c in conditions:
            if facts.proves(c):
                continue
            own = variables.intersection(c.form.dims())
            loop = next((v for v in self.loops if own == {v.var}), None)
            if loop is not None and not c.equal and c.form.terms.get(loop.var) == -1:
                bound = c.form + Linear.dim(loop.var) + 1
                if loop.var not in bound.dims() and not inner.intersection(bound.dims()):
                    loop.set_min_bounds([*loop.min_bounds(), bound])
                    continue
            left.append(c)
        return left


def _spatial_bounds(loop: ForOp) -> list[Linear]:
    return [] if loop.is_reduction else loop.limits()


def is_normal(block: BlockOp, chain: Sequence[ForOp], forms: Sequence[Linear]) -> bool:
    """Whether a stage's loops are as `te-to-tir` made them."""
    spatial = [v for v in chain if not v.is_reduction]
    order = [*spatial, *(v for v in chain if v.is_reduction)]
    if list(chain) != order or block.conditions() or any(v.kind.data != "serial" for v in chain):
        return False
    inner = {v.var for v in chain}
    if any(d in inner for v in spatial for d in v.bounds):
        return False
    return forms == [Linear.dim(v.var) for v in spatial]


def normal_form(block: BlockOp, buffer: SSAValue, what: str) -> NormalForm | None:
    """The way to put a stage back; None where nothing has been done to it.

    Raises ScheduleError where its loops cannot be told from its stores: where other statements stand in them, or an
    iteration does not store one element of its own.
    """
    stage = block.stage.data
    stores = [o for o in accesses(block.body.block, buffer) if isinstance(o, StoreOp)]
    if len(stores) != 1 or any(op.regions for op in block.body.block.ops):
        raise ScheduleError(f"{what}: stage {stage!r} is opaque: it holds loops of its own, or not one store")
    forms = stores[0].forms()
    chain = own_nest(block, what)
    if is_normal(block, chain, forms):
        return None
    # Loops outside of the stage's own, in which its consumers stand too, are none of its digits.
    used = {d for f in forms for d in f.dims()}
    while chain and chain[0].var not in used and not chain[0].is_reduction and chain[0].trip != 1:
        chain.pop(0)
    if is_normal(block, chain, forms):
        return None
    spatial = {v.var: v for v in chain if not v.is_reduction}
    if any(d not in spatial for d in used) or any(f.terms and f.const for f in forms):
        raise ScheduleError(f"{what}: stage {stage!r} does not start at the first element of its buffer")
    func = function_of(block)
    own = {v.axis.data for v in chain}
    taken = {v.axis.data for v in loops_and_blocks(func) if type(v) is ForOp} - own
    loops: list[ForOp] = []
    for d, (form, size) in enumerate(zip(forms, extents_of(buffer), strict=True)):
        only = spatial.get(next(iter(form.terms))) if len(form.terms) == 1 else None  # type: ignore[arg-type]
        if only is not None and form == Linear.dim(only.var) and spatial.keys().isdisjoint(only.bounds):
            limits = only.limits()
        else:
            reach = form.range(RangeCache())
            covered = reach is None or (size.is_constant and reach[1] + 1 >= size.const)
            dynamic = any(spatial[v].is_dynamic for v in form.dims())  # type: ignore[index]
            limits = [size] if reach is None or covered or dynamic else [size, constant(reach[1] + 1)]
        axis, hint = _name(block, d, form, spatial)
        while axis in taken:
            axis += "_"
        taken.add(axis)
        loops.append(ForOp.upto(limits, axis, hint=hint))
    extents = {v: None if loop.is_dynamic else loop.trip for v, loop in spatial.items()}
    mapping = inverse(forms, extents, [Linear.dim(v.var) for v in loops])  # type: ignore[arg-type]
    if mapping is None:
        raise ScheduleError(f"{what}: the loops of stage {stage!r} do not follow from the element that it stores")
    mapping |= {v: constant(0) for v, e in extents.items() if e is not None and e <= 1}
    return NormalForm(block, chain, loops, mapping, RangeCache())


def _name(block: BlockOp, d: int, form: Linear, spatial: dict[SSAValue, ForOp]) -> tuple[str, str | None]:
    """The axis that a dimension's loop had: the digits of a split are numbered behind it."""
    for atom in form.terms:
        axis = spatial[atom].axis.data if isinstance(atom, SSAValue) else ""
        while axis.rpartition(".")[2].isdigit():
            axis = axis.rpartition(".")[0]
        if axis and "+" not in axis:
            return axis, value_name(axis.rpartition(".")[2])
    return f"{block.stage.data}.{d}", None
