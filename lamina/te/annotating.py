"""Annotations of stages and of loops, as schedule ops: memory, then what changes the nests, then how loops run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import BoolAttr, FloatAttr, IntegerAttr, StringAttr, f64, i64
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear
from lamina.errors import InputError
from lamina.te.emit import affine
from lamina.te.expr import EQ, GE, GT, LE, LT, And, Expr, IntImm, Var, fail
from lamina.te.relations import Annotation, Sampled
from lamina.te.stage import Stage
from lamina.te.tensor import REDUCE, IterVar

if TYPE_CHECKING:
    from lamina.te.canonical import Emission

_OF_STAGES = ("storage_align", "env_threads", "rolling_buffer")
_CHANGING = ("tensorize", "prefetch", "double_buffer", "blockize")
_SAID_LAST = ("parallel", "vectorize", "unroll", "pragma", "annotate", "store_predicate", "partition")


class Annotating:
    """Writes down what was said of stages and of loops, once what it is about is there."""

    def __init__(self, emission: Emission) -> None:
        self.emission = emission

    def run(self) -> None:
        for kinds in (_OF_STAGES, _CHANGING, _SAID_LAST):
            for stage in self.emission.order:
                self.add(stage, kinds)

    def add(self, stage: Stage, kinds: Sequence[str]) -> None:
        """Append the annotations of some kinds of a stage and its loops, from the outermost loop to the innermost."""
        attachment = stage.attached()
        if attachment is not None and attachment.is_inline:
            return
        emission = self.emission
        if "set_scope" in kinds and stage.scope and stage.scope != getattr(stage.made_by, "scope", ""):
            emission.add(lambda: emission.builder.set_scope(emission.names[stage], stage.scope), stage.scope_place)
        position = {v: n for n, v in enumerate(stage.leaf_iter_vars)}
        found = [a for a in stage.annotations if a.kind in kinds]
        found.sort(
            key=lambda a: (position.get(a.loop, -1) if a.loop is not None else -1, kinds.index(a.kind), a.name())
        )
        for said in found:
            if said.kind != "store_predicate" or not self.is_implied(stage, said.value):
                arguments = self.arguments(stage, said)
                method = getattr(emission.builder, said.kind)
                emission.add(lambda method=method, arguments=arguments: method(*arguments), said.place)

    def arguments(self, stage: Stage, said: Annotation) -> tuple[Any, ...]:
        """The arguments of the builder's method."""
        value = said.value
        if said.loop is None:
            return self.emission.names[stage], *self.stage_arguments(stage, said)
        loop = self.emission.handle(said.loop, stage, said.kind, said.place)
        if said.kind == "bind":
            return loop, value.thread_tag
        if said.kind in ("pragma", "annotate"):
            return loop, *self.keyed(value)
        if said.kind == "prefetch":
            tensor, offset = value
            return self.emission.names[self.emission.schedule[tensor]], loop, int(offset)
        if said.kind == "tensorize":
            return loop, self.emission.function.intrinsic(value)
        return (loop, value) if said.kind == "blockize" else (loop,)

    def keyed(self, value: tuple[str, Any]) -> tuple[str, Attribute | SSAValue]:
        """A name and its value, as the ops take them."""
        key, given = value
        return key, self.emission.number(given) if isinstance(given, Sampled) else _attribute(given)

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
        if said.kind == "annotate":
            return self.keyed(said.value)
        if said.kind == "store_predicate":
            return (conditions_of(said.value, self.variables(stage)),)
        if said.kind == "rolling_buffer":
            attachment = stage.attached()
            if attachment is None or attachment.parent is None or attachment.loop is None:
                raise InputError(
                    f"rolling_buffer of stage {stage.name!r}: it is computed in no loop of another stage",
                    where=str(said.place or ""),
                )
            return (self.emission.handle(attachment.loop, attachment.parent, said.kind, said.place),)
        values: tuple[Any, ...] = said.value or ()
        return values

    def is_implied(self, stage: Stage, predicate: Expr) -> bool:
        """Whether a store predicate asks for what holds: one thread of those that reduce together stores the total."""
        if not isinstance(predicate, EQ):
            return False
        reducing = {a.value.var for a in stage.annotations if a.kind == "bind" and _reduces(a.loop)}
        return predicate.a in reducing or predicate.b in reducing

    def variables(self, stage: Stage) -> dict[Var, Linear]:
        """The forms of variables in a condition on a stage: its loops, and the threads that loops around it run on."""
        found: dict[Var, Linear] = {}
        handles = self.emission.handles
        around: Stage | None = stage
        while around is not None:
            for a in around.annotations:
                if a.kind == "bind" and a.loop is not None and a.loop in handles:
                    found.setdefault(a.value.var, Linear.dim(handles[a.loop]))
            for v in around.leaf_iter_vars:
                if v in handles:
                    found.setdefault(v.var, Linear.dim(handles[v]))
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


def _attribute(value: Any) -> Attribute:
    """A number, a text or a truth value as an attribute."""
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    return StringAttr(value) if isinstance(value, str) else IntegerAttr(int(value), i64)
