"""The description of a compiled program, apart from its code and its constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina.dialects.aligned_arrays import ALIGNMENT
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError
from lamina.runtime.ports import SIZE, Port, naming_sizes

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from lamina.interpreters.external import ExternalCall, ExternalFunction
    from lamina.runtime.program import Failure


@dataclass(frozen=True)
class ProgramInfo:
    """The program as the attribute `lamina.program` of its module describes it."""

    name: str
    arena: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    params: tuple[Attribute, ...]
    entries: tuple[str, ...]
    """The label of each row: the model's nodes that it computes."""
    messages: tuple[str, ...] = ()
    """The messages of the codes 1, 2, ... that a kernel may leave in the status block."""
    workspaces: tuple[Port, ...] = ()
    """Arenas whose size depends on the program's sizes."""
    external: tuple[ExternalFunction, ...] = ()
    """The functions that external backends run."""
    calls: tuple[ExternalCall, ...] = ()
    """The entries that call them, in order."""
    entry_calls: tuple[int, ...] = ()
    """The number of the program's call that each entry belongs to."""
    places: tuple[tuple[int, int], ...] = ()
    """Places in workspaces: of each the workspace, and how far along its first dimension."""
    thread_memory: int = 0
    """Bytes that each thread has behind the arena."""

    def __post_init__(self) -> None:
        names = self.sizes
        if names:
            names = ["" if p.has_default else p.name for p in self.inputs if p.dtype == SIZE]
            for side in ("inputs", "outputs", "workspaces"):
                object.__setattr__(self, side, naming_sizes(getattr(self, side), names))

    @property
    def sizes(self) -> list[str]:
        """The names of the sizes."""
        return [p.name for p in self.inputs if p.dtype == SIZE]

    def check(self, failure: Failure | None) -> None:
        """Raise InputError for what a kernel reported, if it did."""
        if failure is not None:
            what = self.messages[failure.code - 1]
            raise InputError(what, where=f"node {self.entries[failure.entry]!r}")

    def plain(self) -> dict[str, Any]:
        """All but the constants as plain values."""
        return {
            "name": self.name,
            "arena": self.arena,
            "inputs": [p.plain() for p in self.inputs],
            "outputs": [p.plain() for p in self.outputs],
            "entries": list(self.entries),
            "messages": list(self.messages),
            "entry_calls": list(self.entry_calls),
            **({"workspaces": [w.plain() for w in self.workspaces]} if self.workspaces else {}),
            **({"places": [list(p) for p in self.places]} if self.places else {}),
            **({"thread_memory": self.thread_memory} if self.thread_memory else {}),
            **({"external": [f.plain() for f in self.external]} if self.external else {}),
            **({"calls": [c.plain() for c in self.calls]} if self.calls else {}),
        }

    @staticmethod
    def from_plain(data: Mapping[str, Any]) -> ProgramInfo:
        """The other way round."""
        inputs, outputs, workspaces = (
            tuple(map(Port.from_plain, data.get(side, ()))) for side in ("inputs", "outputs", "workspaces")
        )
        external: tuple[ExternalFunction, ...] = ()
        calls: tuple[ExternalCall, ...] = ()
        if "external" in data:
            from lamina.interpreters.external import ExternalCall, ExternalFunction

            external = tuple(ExternalFunction.from_plain(f) for f in data["external"])
            calls = tuple(ExternalCall.from_plain(c) for c in data.get("calls", ()))
        entries, messages = tuple(data["entries"]), tuple(data.get("messages", ()))
        of_entries = tuple(data.get("entry_calls", range(len(entries))))
        what = (data["name"], data["arena"], inputs, outputs, (), entries, messages, workspaces, external, calls)
        # Before there were places each workspace was one.
        known = data.get("places", [(n, 0) for n in range(len(workspaces))])
        places = tuple((int(workspace), int(first)) for workspace, first in known)
        of_thread = data.get("thread_memory", 0)
        return ProgramInfo(*what, entry_calls=of_entries, places=places, thread_memory=of_thread)

    def fixed_memory(self, threads: int) -> int:
        """Bytes of the arena with the memory of so many threads."""
        return self.arena + threads * self.thread_memory

    def working_memory(self, sizes: Sequence[int]) -> WorkingMemory:
        """The memory for all workspaces, one behind the other."""
        total, starts, steps = 0, list[int](), list[int]()
        for n, workspace in enumerate(self.workspaces):
            first, *others = workspace.shape_for(sizes)
            step = prod(others) * numpy_dtype(workspace.dtype).itemsize
            if any(place % ALIGNMENT for w, place in self.places if w == n):
                step = _aligned(step)
            starts.append(total)
            steps.append(step)
            total += _aligned(first * step)
        return WorkingMemory(total, [starts[w] + steps[w] * first for w, first in self.places])


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


class WorkingMemory(NamedTuple):
    """The memory that a program works in beside its arena, for some sizes."""

    size: int
    """Bytes."""
    offsets: list[int]
    """Of its places."""
