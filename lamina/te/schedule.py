"""Schedules in TVM's spelling: `s = te.create_schedule(C.op)`, then `s[C].split(...)` and so on.

A schedule records; calls on different stages may come in any order. `canonical.py` writes down what was said as a
te.schedule, the same for all orders in which it may be said, and the stair `te-to-tir` applies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from lamina.ir.location import Place, caller
from lamina.te.expr import IntImm, as_expr, fail
from lamina.te.function import all_operations
from lamina.te.mistakes import checked_number
from lamina.te.relations import (
    CacheRead,
    CacheWrite,
    Decomposition,
    Factoring,
    Padding,
    Relation,
    Sampled,
    Sampling,
    ScheduledOp,
)
from lamina.te.stage import Stage
from lamina.te.tensor import (
    REDUCE,
    ComputeOp,
    IterVar,
    Operation,
    PlaceholderOp,
    ProducerLoad,
    Range,
    Tensor,
    reading_order,
    walk,
)


class Schedule:
    """The schedule of the operations that lead to some outputs."""

    def __init__(self, outputs: Sequence[Operation]) -> None:
        self.outputs = list(outputs)
        self.base_order = all_operations(reading_order(self.outputs))
        self.stages: list[Stage] = [Stage(self, op) for op in self.base_order]
        self.stage_map: dict[Operation, Stage] = {s.op: s for s in self.stages}
        self.groups: list[Stage] = []
        self.samplings: list[Sampling] = []
        self.normalized: Place | None = None
        """The place of the call that asked for bounds and indices in their simplest form."""

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
        """Bounds, conditions and indices in their simplest form at the end; returns the schedule itself.

        That ranges start at 0, which TVM's normalizing sees to, always holds here.
        """
        self.normalized = caller()
        return self

    def sample_categorical(
        self, candidates: Sequence[int], probs: Sequence[float], decision: int | None = None
    ) -> Sampled:
        """One of several numbers, drawn when the schedule is applied: a factor of a split, the value of a pragma."""
        numbers, weights = [int(c) for c in candidates], [float(p) for p in probs]
        if len(numbers) != len(weights) or not numbers or abs(sum(weights) - 1) > 1e-6:
            raise fail(f"sample_categorical: {len(numbers)} candidates need as many probabilities, which add up to 1")
        chosen = None if decision is None else int(decision)
        if chosen is not None and not 0 <= chosen < len(numbers):
            raise fail(f"sample_categorical: the decision {chosen} is none of {len(numbers)} positions")
        sampling = Sampling(None, numbers, weights, chosen, caller())
        self.samplings.append(sampling)
        return Sampled(sampling, 0)

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
        if stage.relations or stage.layout is not None or stage.padding is not None:
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
        stage.root_iter_vars = list(copy.axis)
        stage.leaf_iter_vars = [v for v in stage.leaf_iter_vars if v in copy.axis]
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
        factor_axis = checked_number(factor_axis, "the factor_axis of rfactor")
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
        stage.root_iter_vars = [*final.axis, *final.reduce_axis]
        stage.leaf_iter_vars = list(stage.root_iter_vars)
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

    def add_paddings(self, stage: Stage, numbers: dict[IterVar, int]) -> list[Tensor]:
        """The stages that pad_einsum adds to one, whose loops are padded to multiples of these numbers."""
        base = stage.origin_op

        def is_padded(extent: Any, number: int) -> bool:
            return int(extent) % number != 0 if isinstance(extent, IntImm) else number > 1

        padded = {v.var for v, n in numbers.items() if v.dom is not None and is_padded(v.dom.extent, n)}
        place = cast("tuple[list[int], Place | None]", stage.padding)
        reads = [e for e in walk(base.body) if isinstance(e, ProducerLoad)] if isinstance(base, ComputeOp) else []
        sources = dict.fromkeys(e.producer for e in reads if any(i in padded for i in e.indices))
        made: list[Tensor] = []
        for source in sources:
            made.append(self._copy_stage(f"{source.name}.pad", source, Padding(stage, source, *place), before=stage))
        if any(v.var in padded for v in stage.op.axis):
            made.append(
                self._copy_stage(f"{stage.name}.out", stage.op.output(0), Padding(stage, None, *place), after=stage)
            )
        return made

    def add_start(self, stage: Stage, loop: IterVar) -> Stage:
        """The stage that starts a reduction before a loop."""
        order = list(stage.leaf_iter_vars)
        inner = [v for v in order[order.index(loop) :] if v.iter_type != REDUCE]
        op = ScheduledOp(f"{stage.name}.init", [IterVar(None, f"{v.name}.init") for v in inner], [], stage.op)
        op.make_outputs(stage.op.outputs[0].shape, [t.dtype for t in stage.op.outputs])
        start = self._add_stage(op, before=stage)
        start.made_by = Decomposition(stage, loop, order, caller())
        return start

    def _copy_stage(
        self, name: str, tensor: Tensor, made_by: Padding, before: Stage | None = None, after: Stage | None = None
    ) -> Tensor:
        axis = [IterVar(Range(e), f"ax{n}") for n, e in enumerate(tensor.shape)]
        op = ScheduledOp(name, axis, [], tensor.op)
        made = op.make_outputs(tensor.shape, [tensor.dtype])[0]
        self._add_stage(op, before, after).made_by = made_by
        return made

    def inputs_of(self, stage: Stage) -> list[Tensor]:
        """The tensors that a stage reads."""
        if isinstance(stage.made_by, Padding):
            return [stage.made_by.source or stage.made_by.stage.op.output(0)]
        if isinstance(stage.made_by, Decomposition):
            return []
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
        beside = before or after
        for group in self.groups:  # as in TVM, what is made of a member belongs to the group
            if beside in group.members:
                group.members.append(stage)
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
