"""A recorded schedule as te.schedule ops, in one order whatever the order of the calls was.

First the stages that the schedule adds (caches), then inlining. Then stage by stage, from the outputs to the inputs:
where it is computed, its splits and fuses, the order of its loops. At the end what is said of stages and of loops.

A split or fuse is written when the loop that it takes is the outermost one that is taken apart at all, so that two
orders of calls that lead to the same loops lead to the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xdsl.ir import SSAValue

from lamina.dialects.index_map import Condition
from lamina.dialects.linear import Linear
from lamina.dialects.te.schedule import ScheduleOp
from lamina.dialects.te.scheduling import Schedule as Builder
from lamina.errors import InputError, UnsupportedError
from lamina.te.emit import affine
from lamina.te.expr import EQ, GE, GT, LE, LT, And, Expr, IntImm, Var, fail
from lamina.te.function import TensorFunction, identifier
from lamina.te.location import Place
from lamina.te.relations import (
    Annotation,
    Attachment,
    CacheRead,
    CacheWrite,
    Factoring,
    Fuse,
    Relation,
    Split,
    replaced,
)
from lamina.te.schedule import Schedule, Stage
from lamina.te.special import ExternOp, ScanOp
from lamina.te.tensor import REDUCE, IterVar, Operation, PlaceholderOp


def emit_schedule(schedule: Schedule, function: TensorFunction) -> ScheduleOp:
    """The te.schedule of a function. Raises LaminaError, with the place of the call, for what cannot be said."""
    return _Emission(schedule, function).run()


def stage_order(schedule: Schedule) -> list[Stage]:
    """All stages, inputs first, the added ones next to those that they belong to."""
    position = {op: n for n, op in enumerate(schedule.base_order)}

    def rank(stage: Stage) -> int:
        while isinstance(stage.made_by, (CacheWrite, Factoring)):
            stage = stage.made_by.copy if isinstance(stage.made_by, CacheWrite) else stage.made_by.final
        if isinstance(stage.made_by, CacheRead):
            return rank(schedule[stage.made_by.source])
        return position[stage.origin_op]

    def expanded(stage: Stage) -> Iterator[Stage]:
        for s in schedule.stages:
            if isinstance(s.made_by, CacheWrite) and s.made_by.copy is stage:
                yield from expanded(s)
            elif isinstance(s.made_by, Factoring) and s.made_by.final is stage:
                yield from expanded(s)
        yield stage
        copies = [
            (sorted(map(rank, s.made_by.readers)), s.scope, n, s)
            for n, s in enumerate(schedule.stages)
            if isinstance(s.made_by, CacheRead) and schedule[s.made_by.source] is stage
        ]
        for *_, copy in sorted(copies, key=lambda c: c[:3]):
            yield from expanded(copy)

    added = (CacheRead, CacheWrite, Factoring)
    base = sorted((s for s in schedule.stages if not isinstance(s.made_by, added)), key=rank)
    return [s for b in base for s in expanded(b)]


class _Emission:
    def __init__(self, schedule: Schedule, function: TensorFunction) -> None:
        self.schedule = schedule
        self.function = function
        self.builder = Builder(function.func)
        self.order = stage_order(schedule)
        self.names: dict[Stage, str] = {}
        """What the IR calls a stage, or the argument that a placeholder is."""
        self.handles: dict[IterVar, SSAValue] = {}
        self.done: set[Stage] = set()
        self.partial: dict[Stage, tuple[list[IterVar], list[SSAValue]]] = {}
        """Of partial results: the axes in the order of the loops that rfactor has left them, and these."""

    def run(self) -> ScheduleOp:
        for stage in self.order:
            if stage.made_by is None:
                self.names[stage] = self.function.names.get(stage.origin_op, stage.name)
                self.builder.dims.setdefault(self.names[stage], _dims(stage.origin_op))
        self.add_caches()
        for stage in self.order:
            attachment = stage.attached()
            if attachment is not None and attachment.kind == "inline":
                self.check_inline(stage, attachment)
                self.add(lambda s=stage: self.builder.compute_inline(self.names[s]), attachment.place)
        for stage in reversed(self.order):
            self.add_stage(stage)
        for kinds in (_STAGE_KINDS, _CHANGING, _RUNNING):
            for stage in self.order:
                self.add_annotations(stage, kinds)
        return self.builder.build()

    # -- ops -------------------------------------------------------------------------------------------------

    def add(self, build: Callable[[], Any], place: Place | None) -> Any:
        """What a builder method gives; the ops that it appends get the place of the call."""
        last = self.builder.block.last_op
        result = build()
        op = last.next_op if last is not None else self.builder.block.first_op
        while op is not None:
            if place is not None:
                op.location = place.location()
            op = op.next_op
        return result

    def primitive(self, name: str, place: Place | None) -> Any:
        """The builder's method of a primitive. Raises UnsupportedError where there is none."""
        method = getattr(self.builder, name, None)
        if method is None:
            raise UnsupportedError(f"the primitive {name} is not there yet", where=str(place or ""))
        return method

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
                method = self.primitive("cache_read_stage", made.place)
                self.names[stage] = self.add(
                    lambda method=method, source=source, readers=readers, m=made: method(source, readers, m.scope),
                    made.place,
                )

    def check_inline(self, stage: Stage, attachment: Attachment) -> None:
        if stage.relations or any(a.loop is not None for a in stage.annotations):
            raise InputError(
                f"stage {stage.name!r} is inlined, so its loops cannot be scheduled",
                where=str(attachment.place or ""),
            )

    # -- one stage ---------------------------------------------------------------------------------------------

    def add_stage(self, stage: Stage) -> None:
        """Where a stage is computed, and its loops; the stage whose loop it is computed in comes before."""
        attachment = stage.attached()
        inline = attachment is not None and attachment.kind == "inline"
        if stage in self.done or inline or isinstance(stage.op, PlaceholderOp):
            return
        self.done.add(stage)
        if attachment is not None:
            assert attachment.parent is not None and attachment.loop is not None
            self.add_stage(attachment.parent)
            handle = self.handle(attachment.loop, attachment.parent, "compute_at", attachment.place)
            self.factor(stage)
            loops = self.add(lambda: self.builder.compute_at(self.names[stage], handle), attachment.place)
        else:
            self.factor(stage)
            if not self.is_scheduled(stage) or isinstance(stage.op, (ScanOp, ExternOp)):
                return
            if stage in self.partial:
                self.add_loops(stage, *self.partial[stage])
                return
            loops = self.builder.loops(self.names[stage])
        self.add_loops(stage, [*stage.op.axis, *stage.op.reduce_axis], loops)

    def is_scheduled(self, stage: Stage) -> bool:
        """Whether anything is said of a stage's loops."""
        attached = any(a is not None and a.parent is stage for a in (s.attached() for s in self.order))
        roots = [*stage.op.axis, *stage.op.reduce_axis]
        changed = list(map(id, stage.leaf_iter_vars)) != list(map(id, roots))
        return attached or changed or any(a.loop is not None for a in stage.annotations)

    def factor(self, stage: Stage) -> None:
        """The rfactor that gives the stage its present form; its partial results have got its loops."""
        for partial in self.order:
            made = partial.made_by
            if not isinstance(made, Factoring) or made.final is not stage:
                continue
            method = self.primitive("rfactor", made.place)
            name = self.names[stage]
            roots = [*stage.op.axis, *made.reduced]
            self.handles.update(zip(roots, self.builder.loops(name), strict=True))
            current = self.relate(made.relations, roots)
            handle = self.handles[made.loop]
            arguments = (name, handle, made.factor_axis, len(current))
            named, loops = self.add(lambda method=method, arguments=arguments: method(*arguments), made.place)
            self.names[partial] = named
            self.builder.dims[named] = _dims(partial.op)
            self.builder.dims[name] = _dims(stage.op)
            # The nest of the partial results is the one that the stage had: its dimensions, then what it reduces over.
            dims, rest = list(partial.op.axis), list(partial.op.reduce_axis)
            factored = dims.pop(made.factor_axis)
            mine = [
                factored if v is made.loop else rest.pop(0) if v.iter_type == REDUCE else dims.pop(0) for v in current
            ]
            self.partial[partial] = (mine, loops)

    def add_loops(self, stage: Stage, current: list[IterVar], loops: Sequence[SSAValue]) -> None:
        """Name the loops of a stage and apply its splits and fuses, then its order."""
        if len(loops) != len(current):
            raise InputError(f"stage {stage.name!r} has {len(loops)} loops, {len(current)} axes are known")
        self.handles.update(zip(current, loops, strict=True))
        current = self.relate(stage.relations, current)
        self.order_loops(current, stage.leaf_iter_vars, self.last_place(stage))

    def relate(self, relations: Sequence[Relation], current: list[IterVar]) -> list[IterVar]:
        """Apply splits and fuses: always to the outermost loop that has one that can be applied."""
        takes = {v: r for r in relations for v in r.sources}
        while True:
            ready = (r for r in map(takes.get, current) if r is not None and all(v in current for v in r.sources))
            relation = next(ready, None)
            if relation is None:
                return current
            if isinstance(relation, Split):
                self.split(relation)
            else:
                current = self.fuse(relation, current)
            current = replaced(current, relation.sources, relation.parts)

    def split(self, relation: Split) -> None:
        handle = self.handles[relation.parent]
        parts = self.add(lambda: self.builder.split(handle, relation.factors), relation.place)
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

    def handle(self, loop: IterVar, stage: Stage, what: str, place: Place | None) -> SSAValue:
        found = self.handles.get(loop)
        if found is None or loop not in stage.leaf_iter_vars:
            raise InputError(
                f"{what}: {loop.name!r} is no loop of stage {stage.name!r} any more: it was split or fused",
                where=str(place or ""),
            )
        return found

    # -- what is said of stages and loops ------------------------------------------------------------------------

    def add_annotations(self, stage: Stage, kinds: Sequence[str]) -> None:
        attachment = stage.attached()
        if attachment is not None and attachment.kind == "inline":
            return
        if "set_scope" in kinds and stage.scope and stage.made_by is None:
            self.add(lambda: self.builder.set_scope(self.names[stage], stage.scope), stage.scope_place)
        position = {v: n for n, v in enumerate(stage.leaf_iter_vars)}
        found = [a for a in stage.annotations if a.kind in kinds]
        found.sort(key=lambda a: (position.get(a.loop, -1) if a.loop is not None else -1, kinds.index(a.kind), _key(a)))
        for annotation in found:
            if annotation.kind != "store_predicate" or not self.is_implied(stage, annotation.value):
                self.annotate(stage, annotation)

    def annotate(self, stage: Stage, said: Annotation) -> None:
        method = self.primitive(said.kind, said.place)
        if said.loop is None:
            arguments: tuple[Any, ...] = (self.names[stage], *self.stage_arguments(stage, said))
        else:
            handle = self.handle(said.loop, stage, said.kind, said.place)
            if said.kind == "bind":
                arguments = (handle, said.value.thread_tag)
            elif said.kind == "pragma":
                key, value = said.value
                arguments = (handle, key, 1 if value is None else int(value))
            elif said.kind == "prefetch":
                tensor, offset = said.value
                arguments = (self.names[self.schedule[tensor]], handle, int(offset))
            elif said.kind == "tensorize":
                arguments = (handle, self.function.intrinsic(said.value))
            else:
                arguments = (handle,)
        self.add(lambda: method(*arguments), said.place)

    def stage_arguments(self, stage: Stage, said: Annotation) -> tuple[Any, ...]:
        if said.kind == "env_threads":
            for thread in said.value:
                if thread.dom is None or not isinstance(thread.dom.extent, IntImm):
                    raise InputError(
                        f"env_threads of stage {stage.name!r}: {thread.name!r} has no extent",
                        where=str(said.place or ""),
                        hint='write te.thread_axis((0, 64), "threadIdx.x")',
                    )
            return [t.thread_tag for t in said.value], [int(t.dom.extent) for t in said.value]
        if said.kind == "store_predicate":
            return (conditions_of(said.value, self.variables(stage)),)
        if said.kind == "rolling_buffer":
            attachment = stage.attached()
            if attachment is None or attachment.parent is None or attachment.loop is None:
                raise InputError(
                    f"rolling_buffer of stage {stage.name!r}: it is computed in no loop of another stage",
                    where=str(said.place or ""),
                )
            return (self.handle(attachment.loop, attachment.parent, said.kind, said.place),)
        values: tuple[Any, ...] = said.value or ()
        return values

    def is_implied(self, stage: Stage, predicate: Expr) -> bool:
        """Whether a store predicate asks for what holds: one thread of those that reduce together stores the total."""
        if not isinstance(predicate, EQ):
            return False
        reducing = {a.value.var for a in stage.annotations if a.kind == "bind" and _reduces(a.loop)}
        return predicate.a in reducing or predicate.b in reducing

    def variables(self, stage: Stage) -> dict[Var, Linear]:
        """What variables mean in a condition on a stage: its loops, and the threads that loops around it run on."""
        found: dict[Var, Linear] = {}
        around: Stage | None = stage
        while around is not None:
            for a in around.annotations:
                if a.kind == "bind" and a.loop is not None and a.loop in self.handles:
                    found.setdefault(a.value.var, Linear.dim(self.handles[a.loop]))
            for v in around.leaf_iter_vars:
                if v in self.handles:
                    found.setdefault(v.var, Linear.dim(self.handles[v]))
            attachment = around.attached()
            around = attachment.parent if attachment is not None else None
        return found


def conditions_of(x: Expr, variables: dict[Var, Linear]) -> list[Condition]:
    """A conjunction of comparisons as conditions. Raises LaminaError for another expression."""
    if isinstance(x, And):
        return [*conditions_of(x.a, variables), *conditions_of(x.b, variables)]
    if not isinstance(x, (EQ, LT, LE, GT, GE)):
        raise fail(f"a predicate is made of comparisons of loops, not {x}")
    a, b = affine(x.a, variables), affine(x.b, variables)
    if isinstance(x, EQ):
        return [Condition(a - b, True)]
    low, high = (a, b) if isinstance(x, (LT, LE)) else (b, a)
    return [Condition(high - low - (1 if isinstance(x, (LT, GT)) else 0))]


def _reduces(loop: IterVar | None) -> bool:
    return loop is not None and loop.iter_type == REDUCE


def _dims(op: Operation) -> list[str]:
    """Names for the handles of an operation's loops."""
    return [identifier(v.name) for v in (*op.axis, *op.reduce_axis)]


_STAGE_KINDS = ("set_scope", "storage_align", "transform_layout", "env_threads", "rolling_buffer")
_CHANGING = ("tensorize", "prefetch", "double_buffer")
_RUNNING = ("bind", "parallel", "vectorize", "unroll", "pragma", "store_predicate")


def _key(annotation: Annotation) -> str:
    return str(annotation.value[0]) if annotation.kind == "pragma" else ""
