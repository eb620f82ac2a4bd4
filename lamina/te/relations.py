"""How the loops of a stage come from its axes, and what is said about loops: what a `Stage` records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lamina.te.location import Place
from lamina.te.tensor import IterVar, Operation, Tensor

if TYPE_CHECKING:
    from lamina.te.schedule import Stage


@dataclass(eq=False)
class Split:
    """One loop as two: `factors` is [-1, factor] or [nparts, -1]."""

    parent: IterVar
    parts: list[IterVar]
    factors: list[int]
    place: Place | None

    @property
    def sources(self) -> list[IterVar]:
        return [self.parent]


@dataclass(eq=False)
class Fuse:
    """Nested loops, from the outside in, as one."""

    sources: list[IterVar]
    fused: IterVar
    place: Place | None

    @property
    def parts(self) -> list[IterVar]:
        return [self.fused]


Relation: TypeAlias = "Split | Fuse"


@dataclass(eq=False)
class Attachment:
    """Where a stage is computed: inside a loop of another, or `inline` in those that read it."""

    kind: str
    parent: Stage | None
    loop: IterVar | None
    place: Place | None


@dataclass(eq=False)
class Annotation:
    """Something said of a loop or, without one, of the stage; `value` as its primitive takes it."""

    kind: str
    loop: IterVar | None
    value: Any
    place: Place | None


@dataclass(eq=False)
class CacheRead:
    """A copy of a tensor in another memory, which some stages read in its place."""

    source: Tensor
    scope: str
    readers: list[Stage]
    place: Place | None


@dataclass(eq=False)
class CacheWrite:
    """A stage that computes what another one, which comes after it, copies out."""

    copy: Stage
    scope: str
    place: Place | None


@dataclass(eq=False)
class Factoring:
    """rfactor: `stage` computes partial results, which `final` combines."""

    final: Stage
    loop: IterVar
    relations: list[Relation]
    reduced: list[IterVar]
    """The reduction axes that the stage had."""
    factor_axis: int
    place: Place | None


def replaced(loops: Sequence[IterVar], old: Sequence[IterVar], new: Sequence[IterVar]) -> list[IterVar]:
    """A list of loops with some of them, which stand side by side or not, replaced where the first one stood."""
    position = min(loops.index(v) for v in old)
    found = [v for v in loops[:position] if v not in old]
    return [*found, *new, *(v for v in loops[position:] if v not in old)]


class ScheduledOp(Operation):
    """An operation that a schedule has made: a copy, or the computing half of a cached stage."""

    def __init__(self, name: str, axis: Sequence[IterVar], reduce_axis: Sequence[IterVar], base: Operation) -> None:
        super().__init__(name, base.tag, base.attrs)
        self.axis = list(axis)
        self.reduce_axis = list(reduce_axis)
        self.base = base

    @property
    def input_tensors(self) -> list[Tensor]:
        return self.base.input_tensors
