"""Schedules in TVM's spelling: `s = te.create_schedule(C.op)`, then `s[C].split(...)` and so on.

A schedule records; calls on different stages may come in any order. `canonical.py` writes down what was said as a
te.schedule, the same for all orders in which it may be said, and the stair `te-to-tir` applies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from lamina.te.expr import ExprLike, IntImm, as_expr, fail
from lamina.te.function import all_operations, reading_order
from lamina.te.location import Place, caller
from lamina.te.relations import (
    Annotation,
    Attachment,
    CacheRead,
    CacheWrite,
    Factoring,
    Fuse,
    Relation,
    ScheduledOp,
    Split,
    replaced,
)
from lamina.te.tensor import REDUCE, THREAD, IterVar, Operation, PlaceholderOp, Range, Tensor


class Stage:
    """The schedule of one operation: its loops, where it is computed and what holds its result."""

    def __init__(self, schedule: Schedule, op: Operation) -> None:
        self.schedule = schedule
        self.op = op
        self.origin_op = op
        self.relations: list[Relation] = []
        self.leaf_iter_vars: list[IterVar] = [*op.axis, *op.reduce_axis]
        self.attachment: Attachment | None = None
        self.annotations: list[Annotation] = []
        self.scope = ""
        self.scope_place: Place | None = None
        self.reordered: Place | None = None
        """Where the last reorder was called."""
        self.made_by: CacheRead | CacheWrite | Factoring | None = None
        self.members: list[Stage] = []
        """Of a group."""

    @property
    def name(self) -> str:
        return self.op.name

    @property
    def all_iter_vars(self) -> list[IterVar]:
        return [*self.op.axis, *self.op.reduce_axis, *(p for r in self.relations for p in r.parts)]

    def __repr__(self) -> str:
        return f"stage({self.name}, {self.op.name})"

    # -- loops -----------------------------------------------------------------------------------------------

    def split(
        self,
        parent: IterVar,
        factor: Any = None,
        nparts: Any = None,
        disable_predication: bool = False,
    ) -> tuple[IterVar, IterVar]:
        """One loop as two, outer and inner, with `factor` iterations in the inner or `nparts` in the outer one."""
        if (factor is None) == (nparts is None):
            raise fail("split takes either a factor or nparts")
        self._check_loops("split", [parent])
        size = self._number("split", "factor" if nparts is None else "nparts", factor if nparts is None else nparts)
        outer = IterVar(None, f"{parent.name}.outer", parent.iter_type)
        inner = IterVar(None, f"{parent.name}.inner", parent.iter_type)
        factors = [-1, size] if nparts is None else [size, -1]
        self._relate(Split(parent, [outer, inner], factors, caller()))
        return outer, inner

    def fuse(self, *args: IterVar) -> IterVar:
        """Loops that stand directly inside each other, from the outside in, as one."""
        if not args:
            raise fail("fuse takes at least one loop")
        self._check_loops("fuse", args)
        if len(args) == 1:
            return args[0]
        positions = [self.leaf_iter_vars.index(a) for a in args]
        if positions != list(range(positions[0], positions[0] + len(args))):
            order = ", ".join(v.name for v in self.leaf_iter_vars)
            names = ", ".join(v.name for v in args)
            raise fail(f"fuse of {names}: they do not stand directly inside each other; the loops are {order}")
        iter_type = REDUCE if args[0].iter_type == REDUCE else args[0].iter_type
        fused = IterVar(None, ".".join(v.name for v in args) + ".fused", iter_type)
        self._relate(Fuse(list(args), fused, caller()))
        return fused

    def reorder(self, *args: IterVar) -> None:
        """Loops in a new order, in the places that these loops have now."""
        self._check_loops("reorder", args)
        if len(set(map(id, args))) != len(args):
            raise fail("reorder names a loop twice")
        wanted = iter(args)
        self.reordered = caller()
        self.leaf_iter_vars = [next(wanted) if v in args else v for v in self.leaf_iter_vars]

    def tile(
        self, x_parent: IterVar, y_parent: IterVar, x_factor: Any, y_factor: Any
    ) -> tuple[IterVar, IterVar, IterVar, IterVar]:
        """Two loops split and interleaved: x outer, y outer, x inner, y inner."""
        x_outer, x_inner = self.split(x_parent, factor=x_factor)
        y_outer, y_inner = self.split(y_parent, factor=y_factor)
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return x_outer, y_outer, x_inner, y_inner

    def _relate(self, relation: Relation) -> None:
        self.relations.append(relation)
        self.leaf_iter_vars = replaced(self.leaf_iter_vars, relation.sources, relation.parts)

    def _check_loops(self, what: str, loops: Sequence[Any]) -> None:
        for v in loops:
            if not isinstance(v, IterVar):
                raise fail(f"{what} of stage {self.name!r} takes loops, not {v!r}")
            if v not in self.leaf_iter_vars:
                gone = "is no loop of it any more" if v in self.all_iter_vars else "is no loop of it"
                order = ", ".join(x.name for x in self.leaf_iter_vars) or "none"
                raise fail(f"{what} of stage {self.name!r}: {v.name!r} {gone}; its loops are {order}")

    def _number(self, what: str, name: str, value: Any) -> int:
        found = as_expr(value)
        if not isinstance(found, IntImm) or int(found) < 1:
            raise fail(f"{what} of stage {self.name!r}: {name} is a positive number, not {value!r}")
        return int(found)

    # -- how loops run -----------------------------------------------------------------------------------------

    def unroll(self, var: IterVar) -> None:
        """The iterations of a loop written out."""
        self._annotate("unroll", var)

    def vectorize(self, var: IterVar) -> None:
        """The iterations of a loop as the lanes of vectors."""
        self._annotate("vectorize", var)

    def parallel(self, var: IterVar) -> None:
        """The iterations of a loop on the threads of the pool."""
        self._annotate("parallel", var)

    def bind(self, ivar: IterVar, thread_ivar: IterVar) -> None:
        """The iterations of a loop on the threads along an axis of a GPU's grid or block."""
        if not isinstance(thread_ivar, IterVar) or thread_ivar.iter_type != THREAD:  # type: ignore[redundant-expr]
            raise fail("bind takes a thread axis", hint='make it with te.thread_axis("threadIdx.x")')
        self._annotate("bind", ivar, thread_ivar)

    def pragma(self, var: IterVar, pragma_type: str, pragma_value: Any = None) -> None:
        """A hint for later passes, by its name: `auto_unroll_max_step`, `unroll_explicit` and others."""
        self._annotate("pragma", var, (pragma_type, pragma_value))

    def prefetch(self, tensor: Tensor, var: IterVar, offset: Any) -> None:
        """Ask for the part of a tensor that the iteration `offset` ahead reads."""
        self._annotate("prefetch", var, (tensor, offset))

    def tensorize(self, var: IterVar, tensor_intrin: Any) -> None:
        """A loop and all inside it as one instruction, if it computes what the instruction does."""
        self._annotate("tensorize", var, tensor_intrin)

    def _annotate(self, kind: str, loop: IterVar, value: Any = None) -> None:
        self._check_loops(kind, [loop])
        if kind in ("unroll", "vectorize", "parallel", "bind"):  # a loop runs in one way: the last word counts
            self.annotations = [a for a in self.annotations if a.loop is not loop or a.kind not in _RUNNING]
        self.annotations.append(Annotation(kind, loop, value, caller()))

    # -- where it is computed ----------------------------------------------------------------------------------

    def compute_at(self, parent: Stage, scope: IterVar) -> None:
        """Compute, in each iteration of a loop of another stage, what that iteration reads."""
        if parent is self:
            raise fail(f"compute_at of stage {self.name!r}: it cannot be computed inside itself")
        parent._check_loops("compute_at: the loop of", [scope])
        self.attachment = Attachment("at", parent, scope, caller())

    def compute_inline(self) -> None:
        """The equation in the place of each read of it."""
        if isinstance(self.op, PlaceholderOp):
            raise fail(f"compute_inline of stage {self.name!r}: a placeholder has no equation")
        self.attachment = Attachment("inline", None, None, caller())

    def compute_root(self) -> None:
        """Compute the stage on its own, before all that read it."""
        self.attachment = None

    # -- what holds the result -----------------------------------------------------------------------------------

    def set_scope(self, scope: str) -> None:
        """The memory that holds the result: `global`, `shared`, `local`, `register`."""
        self.scope, self.scope_place = scope, caller()

    def storage_align(self, axis: IterVar, factor: int, offset: int) -> None:
        """Strides of a dimension of the result of the form k * factor + offset."""
        if axis not in self.op.axis:
            raise fail(f"storage_align of stage {self.name!r}: {axis.name!r} is no dimension of its result")
        self._of_stage("storage_align", (self.op.axis.index(axis), int(factor), int(offset)))

    def double_buffer(self) -> None:
        """Two copies of the result in turns, so that one is filled while the other is read."""
        self._of_stage("double_buffer", None)

    def rolling_buffer(self) -> None:
        """Keep of the result only what the next iterations of its consumer still read."""
        self._of_stage("rolling_buffer", None)

    def transform_layout(self, mapping_function: Any) -> list[IterVar]:
        """The result stored, and the stage iterated, in another order of dimensions. Returns the new loops."""
        if self.relations:
            raise fail(f"transform_layout of stage {self.name!r}: it comes before splits and fuses")
        from lamina.te.layouts import split_digits, transformed

        map_, digits = transformed(self.op, mapping_function)
        self._of_stage("transform_layout", (map_,))
        loops = split_digits(self.op, digits, lambda loop, factor: self.split(loop, factor))
        self.leaf_iter_vars = [*loops, *self.op.reduce_axis]
        self.reordered = caller()
        return loops

    def env_threads(self, threads: IterVar | Sequence[IterVar]) -> None:
        """Thread axes around the whole stage: of a scan or an extern op."""
        listed = [threads] if isinstance(threads, IterVar) else list(threads)
        self._of_stage("env_threads", listed)

    def set_store_predicate(self, predicate: ExprLike) -> None:
        """Store the result only where a condition on thread axes or loops holds."""
        self._of_stage("store_predicate", as_expr(predicate))

    def _of_stage(self, kind: str, value: Any) -> None:
        self.annotations = [a for a in self.annotations if a.kind != kind or a.kind in _SEVERAL]
        self.annotations.append(Annotation(kind, None, value, caller()))

    def attached(self) -> Attachment | None:
        """Where the stage is computed: as was said of it, else of a group that it belongs to."""
        if self.attachment is not None:
            return self.attachment
        around = [g.attachment for g in self.schedule.groups if self in g.members and g.attachment is not None]
        return around[-1] if around else None


_RUNNING = ("unroll", "vectorize", "parallel", "bind")
_SEVERAL = ("storage_align",)
"""What may be said of a stage more than once: of several dimensions."""


class Schedule:
    """The schedule of the operations that lead to some outputs."""

    def __init__(self, outputs: Sequence[Operation]) -> None:
        self.outputs = list(outputs)
        self.base_order = all_operations(reading_order(self.outputs))
        self.stages: list[Stage] = [Stage(self, op) for op in self.base_order]
        self.stage_map: dict[Operation, Stage] = {s.op: s for s in self.stages}
        self.groups: list[Stage] = []

    def __getitem__(self, tensor: Any) -> Stage:
        if isinstance(tensor, Stage):
            return tensor
        op = tensor.op if isinstance(tensor, Tensor) else tensor
        found = self.stage_map.get(op) if isinstance(op, Operation) else None
        if found is None:
            name = getattr(op, "name", repr(op))
            known = ", ".join(s.name for s in self.stages)
            raise fail(f"the schedule has no stage of {name!r}; there is {known}")
        return found

    def normalize(self) -> Schedule:
        """The schedule itself: what TVM's normalizing does (ranges that start at 0) always holds here."""
        return self

    # -- stages that a schedule adds ------------------------------------------------------------------------------

    def cache_read(self, tensor: Tensor, scope: str, readers: Any) -> Tensor:
        """A copy of a tensor in another memory, which the readers read instead: the copy."""
        listed = cast("Sequence[Any]", readers) if isinstance(readers, (list, tuple)) else [readers]
        if not listed:
            raise fail(f"cache_read of {tensor.name!r} takes the stages that are to read the copy")
        source = self[tensor]
        stages = [self[r] for r in listed]
        for stage in stages:
            if not any(self[t] is source for t in self.inputs_of(stage) if t.op in self.stage_map):
                raise fail(f"cache_read of {tensor.name!r}: stage {stage.name!r} does not read it")
        axis = [IterVar(Range(e), f"ax{n}") for n, e in enumerate(tensor.shape)]
        op = ScheduledOp(f"{tensor.name}.{scope}", axis, [], tensor.op)
        made = op.make_outputs(tensor.shape, [tensor.dtype])[0]
        stage = self._add_stage(op, after=source)
        stage.scope = scope
        stage.made_by = CacheRead(tensor, scope, stages, caller())
        return made

    def cache_write(self, tensor: Any, scope: str) -> Any:
        """Compute a tensor in another memory; its own stage becomes the copy. Returns the tensor that computes."""
        listed = list(cast("Sequence[Tensor]", tensor)) if isinstance(tensor, (list, tuple)) else [tensor]
        stage = self[listed[0]]
        if any(self[t] is not stage for t in listed):
            raise fail("cache_write takes the results of one operation")
        if isinstance(stage.op, PlaceholderOp):
            raise fail(f"cache_write of {stage.name!r}: a placeholder is not computed")
        if stage.relations:
            raise fail(f"cache_write of {stage.name!r}: it comes before the stage's splits and fuses")
        old = stage.op
        axis = [IterVar(a.dom, f"{a.name}.c", a.iter_type) for a in old.axis]
        op = ScheduledOp(f"{old.name}.{scope}", axis, old.reduce_axis, old)
        made = op.make_outputs(old.outputs[0].shape, [t.dtype for t in old.outputs])
        copy = ScheduledOp(old.name, old.axis, [], old)
        copy.make_outputs(old.outputs[0].shape, [t.dtype for t in old.outputs])
        computing = self._add_stage(op, before=stage)
        computing.scope = scope
        computing.made_by, stage_made = CacheWrite(stage, scope, caller()), stage.made_by
        for other in self.stages:  # what read in the stage's place now reads in the computing one
            if isinstance(other.made_by, CacheRead):
                other.made_by.readers = [computing if r is stage else r for r in other.made_by.readers]
        stage.made_by = stage_made
        stage.op = copy
        self.stage_map[copy] = stage
        order = stage.leaf_iter_vars
        stage.leaf_iter_vars = [v for v in order if v in copy.axis]
        found = [made[listed_tensor.value_index] for listed_tensor in listed]
        return found if isinstance(tensor, (list, tuple)) else found[0]

    def rfactor(self, tensor: Tensor, axis: IterVar, factor_axis: int = 0) -> Any:
        """The iterations of a reduction loop as a dimension of partial results, which the stage then combines."""
        stage = self[tensor]
        stage._check_loops("rfactor", [axis])  # pyright: ignore[reportPrivateUsage]
        if axis.iter_type != REDUCE:
            raise fail(f"rfactor of {stage.name!r}: {axis.name!r} is no reduction loop")
        old = stage.op
        rank = len(old.axis) + 1
        if not -rank <= factor_axis < rank:
            raise fail(f"rfactor of {stage.name!r}: factor_axis {factor_axis} is outside of 0 .. {rank - 1}")
        factor_axis %= rank
        reductions = [v for v in stage.leaf_iter_vars if v.iter_type == REDUCE and v is not axis]
        dims = [IterVar(a.dom, a.name) for a in old.axis]
        dims.insert(factor_axis, IterVar(None, axis.name))
        rest = [IterVar(v.dom, v.name, REDUCE) for v in reductions]
        op = ScheduledOp(f"{old.name}.rf", dims, rest, old)
        extent = as_expr(0)  # known when the loops are made
        shape = list(old.outputs[0].shape)
        made = op.make_outputs([*shape[:factor_axis], extent, *shape[factor_axis:]], [t.dtype for t in old.outputs])
        partial = self._add_stage(op, before=stage)
        partial.made_by = Factoring(
            stage, axis, _reducing(stage.relations), list(old.reduce_axis), factor_axis, caller()
        )
        for other in self.stages:
            if isinstance(other.made_by, CacheRead):
                other.made_by.readers = [partial if r is stage else r for r in other.made_by.readers]
        final = ScheduledOp(old.name, old.axis, [IterVar(None, f"{axis.name}.v", REDUCE)], old)
        final.make_outputs(shape, [t.dtype for t in old.outputs])
        stage.op = final
        self.stage_map[final] = stage
        stage.relations = []
        stage.annotations = [a for a in stage.annotations if a.loop is None]
        stage.leaf_iter_vars = [*final.axis, *final.reduce_axis]
        return made if len(made) > 1 else made[0]

    def create_group(self, outputs: Any, inputs: Any, include_inputs: bool = False) -> Stage:
        """The stages between some inputs and some outputs as one, to be moved together."""
        ends = [self[t] for t in _listed(outputs)]
        starts = [self[t] for t in _listed(inputs)]
        group = Stage(self, Operation(f"group{len(self.groups)}"))
        found: list[Stage] = []
        stack = list(ends)
        while stack:
            stage = stack.pop()
            if stage in found or (stage in starts and not include_inputs) or isinstance(stage.op, PlaceholderOp):
                continue
            found.append(stage)
            if stage not in starts:
                stack.extend(self[t] for t in self.inputs_of(stage))
        group.members = [s for s in self.stages if s in found]
        if not group.members:
            raise fail("create_group: there is no stage between the inputs and the outputs")
        self.groups.append(group)
        return group

    def inputs_of(self, stage: Stage) -> list[Tensor]:
        """The tensors that a stage reads."""
        if isinstance(stage.made_by, CacheRead) and isinstance(stage.op, ScheduledOp):
            return [stage.made_by.source]
        inner = [s for s in self.stages if isinstance(s.made_by, CacheWrite) and s.made_by.copy is stage]
        inner += [s for s in self.stages if isinstance(s.made_by, Factoring) and s.made_by.final is stage]
        if inner:
            return [t for s in inner for t in s.op.outputs]
        caches = [s for s in self.stages if isinstance(s.made_by, CacheRead) and stage in s.made_by.readers]
        found: list[Tensor] = []
        for t in stage.op.input_tensors:
            made = [c.op.output(0) for c in caches if cast(CacheRead, c.made_by).source is t]
            found += [t, *made]
        for c in caches:  # copies of copies
            source = cast(CacheRead, c.made_by).source
            if source in found and c.op.output(0) not in found:
                found.append(c.op.output(0))
        return found

    def _add_stage(self, op: Operation, before: Stage | None = None, after: Stage | None = None) -> Stage:
        stage = Stage(self, op)
        position = self.stages.index(before) if before is not None else self.stages.index(after) + 1  # type: ignore[arg-type]
        self.stages.insert(position, stage)
        self.stage_map[op] = stage
        return stage


def _reducing(relations: Sequence[Relation]) -> list[Relation]:
    """The splits and fuses of reduction loops."""
    return [r for r in relations if r.sources[0].iter_type == REDUCE]


def _listed(value: Any) -> list[Any]:
    return list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else [value]


def create_schedule(ops: Any) -> Schedule:
    """An empty schedule of an operation, of several, or of tensors."""
    listed = [o.op if isinstance(o, Tensor) else o for o in _listed(ops)]
    for op in listed:
        if not isinstance(op, Operation):
            raise fail(f"create_schedule takes operations, not {op!r}", hint="write te.create_schedule(C.op)")
    return Schedule(listed)
