"""A recorded schedule as te.schedule ops, in one order whatever the order of the calls was.

First the stages that the schedule adds (caches, padding), then inlining, scopes and layouts. Then stage by stage, from
the outputs to the inputs: where it is computed, its splits and fuses, the order of its loops, which of them run on
threads. Then what starts reductions, and what else is said of stages and of loops (`annotating.py`).

A split or fuse is written when the loop that it takes is the outermost one that is taken apart at all, so that two
orders of calls that lead to the same loops lead to the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xdsl.ir import SSAValue

from lamina.dialects.index.index_map import IndexMapAttr
from lamina.dialects.schedule.build import Schedule as Builder
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.errors import InputError
from lamina.ir.location import Place
from lamina.te.annotating import Annotating
from lamina.te.function import TensorFunction, identifier
from lamina.te.relations import (
    Attachment,
    CacheRead,
    CacheWrite,
    Decomposition,
    Factoring,
    Fuse,
    Padding,
    Relation,
    Sampled,
    Sampling,
    Split,
    replaced,
)
from lamina.te.schedule import Schedule
from lamina.te.special import ExternOp, ScanOp
from lamina.te.stage import Stage
from lamina.te.stage_order import stage_order
from lamina.te.tensor import REDUCE, IterVar, Operation, PlaceholderOp


def emit_schedule(schedule: Schedule, function: TensorFunction) -> ScheduleOp:
    """The te.schedule of a function. Raises LaminaError, with the place of the call, for what cannot be said."""
    return Emission(schedule, function).run()


class Emission:
    """One te.schedule in the making: names and loops of the stages, and the builder that its ops go to."""

    def __init__(self, schedule: Schedule, function: TensorFunction) -> None:
        self.schedule = schedule
        self.function = function
        self.builder = Builder(function.func)
        self.order = stage_order(schedule)
        self.names: dict[Stage, str] = {}
        """The IR's name of a stage, or of the argument that a placeholder is."""
        self.handles: dict[IterVar, SSAValue] = {}
        self.done: set[Stage] = set()
        self.partial: dict[Stage, tuple[list[IterVar], list[SSAValue]]] = {}
        """Of partial results: the axes in the order of the loops that rfactor has left them, and these."""
        self.rearranged: dict[Stage, list[SSAValue]] = {}
        """The loops that transform_layout has given a stage."""
        self.sampled: dict[Sampling, list[SSAValue]] = {}
        self.annotating = Annotating(self)

    def run(self) -> ScheduleOp:
        for stage in self.order:
            if stage.made_by is None:
                self.names[stage] = self.function.names.get(stage.origin_op, stage.name)
                self.builder.dims.setdefault(self.names[stage], _dims(stage.origin_op))
        self.add_caches()
        self.add_paddings()
        for stage in self.order:
            attachment = stage.attached()
            if attachment is not None and attachment.is_inline:
                self.check_inline(stage, attachment)
                method = getattr(self.builder, f"{attachment.kind.removesuffix('inline')}compute_inline")
                self.add(lambda s=stage, method=method: method(self.names[s]), attachment.place)
        for stage in self.order:
            if stage in self.names:  # the others come into being later
                self.annotating.add(stage, ("set_scope",))
        for stage in self.order:
            self.add_layout(stage)
        for stage in reversed(self.order):
            self.add_stage(stage)
        for stage in self.order:
            self.add_start(stage)
        self.annotating.run()
        for sampling in self.schedule.samplings:  # what nobody uses is drawn, too
            if sampling.loop is None and sampling not in self.sampled:
                self.draw(sampling)
        if self.schedule.normalized is not None:
            self.add(self.builder.normalize, self.schedule.normalized)
        return self.builder.build()

    # -- ops -------------------------------------------------------------------------------------------------

    def add(self, build: Callable[[], Any], place: Place | None) -> Any:
        """Return the result of a builder method; the ops that it appends get the place of the call."""
        last = self.builder.block.last_op
        result = build()
        op = last.next_op if last is not None else self.builder.block.first_op
        while op is not None:
            if place is not None:
                op.location = place.location()
            op = op.next_op
        return result

    # -- stages that are added ---------------------------------------------------------------------------------

    def add_caches(self) -> None:
        for stage in reversed(self.order):
            made = stage.made_by
            if isinstance(made, CacheWrite):
                computing = self.names[made.copy]
                copied = self.add(lambda m=made: self.builder.cache_write(self.names[m.copy], m.scope), made.place)
                self.names[made.copy], self.names[stage] = copied, computing
        for stage in self.order:
            made = stage.made_by
            if isinstance(made, CacheRead):
                source = self.names[self.schedule[made.source]]
                readers = [self.names[r] for r in self.order if r in made.readers]
                self.names[stage] = self.add(
                    lambda source=source, readers=readers, m=made: self.builder.cache_read_stage(
                        source, readers, m.scope
                    ),
                    made.place,
                )

    def add_paddings(self) -> None:
        for stage in self.order:
            if stage.padding is not None:
                numbers, place = stage.padding
                self.add(lambda s=stage, n=numbers: self.builder.pad_einsum(self.names[s], n), place)
        for stage in self.order:
            made = stage.made_by
            if isinstance(made, Padding):
                source = self.names[made.stage] if made.source is None else self.names[self.schedule[made.source]]
                self.names[stage] = f"{source}.{'out' if made.source is None else 'pad'}"
                self.builder.dims[self.names[stage]] = _dims(stage.op)

    def add_layout(self, stage: Stage) -> None:
        if stage.layout is None:
            return
        layout, place = stage.layout
        attachment = stage.attached()
        if attachment is not None and attachment.is_inline:
            raise InputError(f"stage {stage.name!r} is inlined, so it has no layout", where=str(place or ""))
        name, loops = self.names[stage], stage.root_iter_vars
        self.builder.dims[name] = [identifier(v.name) for v in loops]
        self.rearranged[stage] = self.add(
            lambda: self.builder.transform_layout(name, IndexMapAttr(layout), len(loops)), place
        )

    def check_inline(self, stage: Stage, attachment: Attachment) -> None:
        if stage.relations or any(a.loop is not None for a in stage.annotations):
            raise InputError(
                f"stage {stage.name!r} is inlined, so its loops cannot be scheduled",
                where=str(attachment.place or ""),
            )

    # -- one stage ---------------------------------------------------------------------------------------------

    def add_stage(self, stage: Stage) -> None:
        """Append a stage's place and its loops; the stage whose loop it is computed in comes before."""
        attachment = stage.attached()
        inline = attachment is not None and attachment.is_inline
        if stage in self.done or inline or isinstance(stage.op, PlaceholderOp):
            return
        if isinstance(stage.made_by, Decomposition):
            return
        group = self.group_of(stage)
        members = [s for s in self.order if s is stage or (group is not None and self.group_of(s) is group)]
        self.done.update(members)
        if attachment is not None:
            assert attachment.parent is not None and attachment.loop is not None
            self.add_stage(attachment.parent)
            handle = self.handle(attachment.loop, attachment.parent, "compute_at", attachment.place)
            for member in members:
                self.factor(member)
            for member, loops in self.attach(members, group, handle, attachment):
                self.add_loops(member, member.root_iter_vars, loops)
        else:
            self.factor(stage)
            if stage in self.partial:
                self.add_loops(stage, *self.partial[stage])
            elif stage in self.rearranged:
                self.add_loops(stage, stage.root_iter_vars, self.rearranged[stage])
            elif self.is_scheduled(stage) and not isinstance(stage.op, (ScanOp, ExternOp)):
                self.add_loops(stage, stage.root_iter_vars, self.builder.loops(self.names[stage]))

    def group_of(self, stage: Stage) -> Stage | None:
        """The group that a stage is moved with."""
        if stage.attachment is not None or isinstance(stage.op, PlaceholderOp):
            return None
        return next((g for g in reversed(self.schedule.groups) if stage in g.members and g.attachment), None)

    def attach(
        self, members: list[Stage], group: Stage | None, handle: SSAValue, attachment: Attachment
    ) -> Iterator[tuple[Stage, list[SSAValue]]]:
        """Move a stage, or those of a group, into a loop; each with its loops."""
        names = [self.names[m] for m in members]
        if group is not None:
            self.add(lambda: self.builder.create_group(group.name, names), group.op.place)
        method = self.builder.reverse_compute_at if attachment.kind == "reverse_at" else self.builder.compute_at
        loops = iter(self.add(lambda: method(names[0] if group is None else group.name, handle), attachment.place))
        for member in members:
            yield member, [next(loops) for _ in self.builder.dims[self.names[member]]]

    def is_scheduled(self, stage: Stage) -> bool:
        """Whether anything is said of a stage's loops."""
        attached = any(a is not None and a.parent is stage for a in (s.attached() for s in self.order))
        changed = list(map(id, stage.leaf_iter_vars)) != list(map(id, stage.root_iter_vars))
        started = any(isinstance(s.made_by, Decomposition) and s.made_by.stage is stage for s in self.order)
        drawn = any(s.loop in stage.all_iter_vars for s in self.schedule.samplings if s.loop is not None)
        return attached or changed or started or drawn or any(a.loop is not None for a in stage.annotations)

    def factor(self, stage: Stage) -> None:
        """The rfactor that gives the stage its present form; its partial results have got its loops."""
        for partial in self.order:
            made = partial.made_by
            if not isinstance(made, Factoring) or made.final is not stage:
                continue
            name = self.names[stage]
            roots = [*stage.op.axis, *made.reduced]
            self.handles.update(zip(roots, self.builder.loops(name), strict=True))
            current = self.relate(made.relations, roots)
            handle = self.handles[made.loop]
            arguments = (name, handle, made.factor_axis, len(current))
            named, loops = self.add(lambda arguments=arguments: self.builder.rfactor(*arguments), made.place)
            self.names[partial] = named
            self.annotating.add(partial, ("set_scope",))
            self.builder.dims[named] = _dims(partial.op)
            self.builder.dims[name] = _dims(stage.op)
            # The nest of the partial results is the one that the stage had: its dimensions, then what it reduces over.
            dims, rest = list(partial.op.axis), list(partial.op.reduce_axis)
            factored = dims.pop(made.factor_axis)
            mine = [
                factored if v is made.loop else rest.pop(0) if v.iter_type == REDUCE else dims.pop(0) for v in current
            ]
            self.partial[partial] = (mine, loops)

    def add_start(self, stage: Stage) -> None:
        """The decompose_reduction that makes a stage, and its loops."""
        made = stage.made_by
        if not isinstance(made, Decomposition):
            return
        order = list(made.stage.leaf_iter_vars)
        if list(map(id, order)) != list(map(id, made.order)):
            raise InputError(
                f"decompose_reduction of stage {made.stage.name!r}: it comes after what changes its loops",
                where=str(made.place or ""),
            )
        handle = self.handle(made.loop, made.stage, "decompose_reduction", made.place)
        name = self.names[made.stage]
        self.names[stage] = self.add(lambda: self.builder.decompose_reduction(name, handle), made.place)
        if self.is_scheduled(stage):
            around = [*self.loops_around(made.stage), *order[: order.index(made.loop)]]
            current = [*around, *stage.op.axis]
            self.builder.dims[self.names[stage]] = [identifier(v.name) for v in current]
            loops = self.builder.loops(self.names[stage])
            self.add_loops(stage, list(stage.op.axis), loops[len(around) :])

    def loops_around(self, stage: Stage) -> list[IterVar]:
        """The loops of others that a stage stands in."""
        attachment = stage.attached()
        if attachment is None or attachment.parent is None or attachment.loop is None:
            return []
        loops = attachment.parent.leaf_iter_vars
        return [*self.loops_around(attachment.parent), *loops[: loops.index(attachment.loop) + 1]]

    def add_loops(self, stage: Stage, current: Sequence[IterVar], loops: Sequence[SSAValue]) -> None:
        """Name the loops of a stage and apply its splits and fuses, then its order."""
        if len(loops) != len(current):
            raise InputError(f"stage {stage.name!r} has {len(loops)} loops, {len(current)} axes are known")
        self.handles.update(zip(current, loops, strict=True))
        current = self.relate(stage.relations, list(current))
        self.order_loops(current, stage.leaf_iter_vars, self.last_place(stage))
        # What is computed in loops of threads, in memory that they share, is what all of them need.
        self.annotating.add(stage, ("bind",))

    def relate(self, relations: Sequence[Relation], current: list[IterVar]) -> list[IterVar]:
        """Apply splits and fuses: always to the outermost loop that has one that can be applied."""
        takes = {v: r for r in relations for v in r.sources}
        while True:
            ready = (r for r in map(takes.get, current) if r is not None and all(v in current for v in r.sources))
            relation = next(ready, None)
            self.draw_from(current if relation is None else relation.sources)
            if relation is None:
                return current
            if isinstance(relation, Split):
                self.split(relation)
            else:
                current = self.fuse(relation, current)
            current = replaced(current, relation.sources, relation.parts)

    def split(self, relation: Split) -> None:
        handle = self.handles[relation.parent]
        factors = [f if isinstance(f, int) else self.number(f) for f in relation.factors]
        parts = self.add(lambda: self.builder.split(handle, factors), relation.place)
        self.handles.update(zip(relation.parts, parts, strict=True))

    def fuse(self, relation: Fuse, current: list[IterVar]) -> list[IterVar]:
        """Fuse loops, brought side by side before where the first one stands."""
        together = replaced(current, relation.sources, relation.sources)
        self.order_loops(current, together, relation.place)
        handles = [self.handles[v] for v in relation.sources]
        self.handles[relation.fused] = self.add(lambda: self.builder.fuse(*handles), relation.place)
        return together

    def order_loops(self, current: Sequence[IterVar], wanted: Sequence[IterVar], place: Place | None) -> None:
        """A reorder of the loops from the first to the last that is to stand elsewhere."""
        moved = [n for n, (a, b) in enumerate(zip(current, wanted, strict=True)) if a is not b]
        if moved:
            handles = [self.handles[v] for v in wanted[moved[0] : moved[-1] + 1]]
            self.add(lambda: self.builder.reorder(*handles), place)

    def last_place(self, stage: Stage) -> Place | None:
        return stage.reordered or next((r.place for r in reversed(stage.relations)), None)

    # -- numbers that are drawn ----------------------------------------------------------------------------------

    def draw_from(self, loops: Sequence[IterVar]) -> None:
        """Draw what is drawn from loops, while they are there."""
        for sampling in self.schedule.samplings:
            if sampling.loop is not None and sampling.loop in loops and sampling not in self.sampled:
                self.draw(sampling)

    def draw(self, sampling: Sampling) -> None:
        builder, numbers = self.builder, sampling.numbers
        if sampling.loop is None:
            one = self.add(
                lambda: builder.sample_categorical(numbers, sampling.probs, sampling.decision), sampling.place
            )
            self.sampled[sampling] = [one]
            return
        handle = self.handles[sampling.loop]
        parts, most = numbers
        self.sampled[sampling] = self.add(
            lambda: builder.sample_perfect_tile(handle, parts, most, sampling.decision), sampling.place
        )

    def number(self, value: Sampled) -> SSAValue:
        """A number that was drawn. Raises LaminaError where the loop that it is drawn from comes later."""
        sampling = value.sampling
        if sampling not in self.sampled and sampling.loop is None:
            self.draw(sampling)
        if sampling not in self.sampled:
            assert sampling.loop is not None
            raise InputError(
                f"the factor of {sampling.loop.name!r} is used before that loop is made",
                where=str(sampling.place or ""),
            )
        return self.sampled[sampling][value.position]

    def handle(self, loop: IterVar, stage: Stage, what: str, place: Place | None) -> SSAValue:
        found = self.handles.get(loop)
        if found is None or loop not in stage.leaf_iter_vars:
            raise InputError(
                f"{what}: {loop.name!r} is no loop of stage {stage.name!r} any more: it was split or fused",
                where=str(place or ""),
            )
        return found


def _dims(op: Operation) -> list[str]:
    """Names for the handles of an operation's loops."""
    return [identifier(v.name) for v in (*op.axis, *op.reduce_axis)]
