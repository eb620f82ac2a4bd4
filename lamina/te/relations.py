"""Relations of the loops of a stage to its axes, and annotations of loops, as a `Stage` records them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lamina.errors import UnsupportedError
from lamina.ir.location import Place
from lamina.te.tensor import IterVar, Operation, Tensor

if TYPE_CHECKING:
    from lamina.te.schedule import Stage


@dataclass(eq=False)
class Sampling:
    """Numbers to be drawn: the factors of a loop's extent or, without a loop, one of some candidates."""

    loop: IterVar | None
    numbers: list[int]
    """Of a loop how many factors, and what the innermost may be at most; else the candidates."""
    probs: list[float]
    decision: Any
    place: Place | None


@dataclass(frozen=True)
class Sampled:
    """A number that a schedule draws when it is applied."""

    sampling: Sampling
    position: int


@dataclass(eq=False)
class Split:
    """One loop as several, with as many iterations as `factors` says; -1 as many as are needed."""

    parent: IterVar
    parts: list[IterVar]
    factors: list[int | Sampled]
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
    """The place where a stage is computed.

    `at` and `reverse_at`: inside a loop of one that reads it, of one that it reads. `inline` and `reverse_inline`: in
    those that read it, in the one that it reads.
    """

    kind: str
    parent: Stage | None
    loop: IterVar | None
    place: Place | None

    @property
    def is_inline(self) -> bool:
        return self.kind.endswith("inline")


@dataclass(eq=False)
class Annotation:
    """Something said of a loop or, without one, of the stage; `value` as its primitive takes it."""

    kind: str
    loop: IterVar | None
    value: Any
    place: Place | None

    def name(self) -> str:
        """The name that tells it from others of its kind: the key of a pragma, the dimension that is aligned."""
        return str(self.value[0]) if self.kind in ("pragma", "annotate", "storage_align") else ""

    def subject(self) -> tuple[IterVar | None, str, str]:
        """The key of its subject: of two annotations about the same thing the later one counts."""
        return self.loop, "runs" if self.kind in RUNNING else self.kind, self.name()


RUNNING = ("bind", "parallel", "vectorize", "unroll")
"""Kinds of annotations that say how a loop runs: in one way only."""


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


@dataclass(eq=False)
class Padding:
    """pad_einsum: a stage that fills `source` up for `stage` or, without a source, copies the result of `stage`."""

    stage: Stage
    source: Tensor | None
    numbers: list[int]
    place: Place | None


@dataclass(eq=False)
class Decomposition:
    """decompose_reduction: a stage that starts the reduction of `stage` before a loop of it."""

    stage: Stage
    loop: IterVar
    order: list[IterVar]
    """The loops that the reduction had then."""
    place: Place | None


MadeBy: TypeAlias = "CacheRead | CacheWrite | Factoring | Padding | Decomposition"


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

    @property
    def body(self) -> Any:
        """Refused: what it computes is known when the program is lowered."""
        raise UnsupportedError(f"{self.name!r} has no body of its own", hint="print(lower(s, args)) shows its loops")
