"""Graphs as steps: a primitive each, on values in the layouts that suit primitives, and reorders between them.

A value lies in memory in some layout, whose axes are those of the tensor whatever the order and the blocks are that a
primitive chose. Who reads it takes it as it is, or asks for another layout: one reorder serves all that ask for the
same. What is made of constants alone is done once, when the graph is loaded: so weights are reordered and kept.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lamina.backends.byoc.dnnl.descriptors import Attributes, Layout, Primitive
from lamina.backends.byoc.dnnl.library import DST, SCRATCHPAD, SRC, Argument, Library
from lamina.dialects.dtypes import numpy_dtype
from lamina.passes.relay.partition.json_graphs import Graph, Type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

INPUT, CONSTANT, OUTPUT, PREPARED, TEMPORARY = range(5)
ALIGNMENT = 64
Host = Callable[["Array", "Array"], None]
"""A step that is no primitive, on what lies in memory one element after the other: (input, output)."""


class Held(NamedTuple):
    """A value in memory: in which piece of it, and how it lies there."""

    buffer: int
    layout: Layout

    @property
    def shape(self) -> tuple[int, ...]:
        return self.layout.shape

    @property
    def dtype(self) -> str:
        return self.layout.dtype

    def seen(self, layout: Layout) -> Held:
        """The same memory seen in another way."""
        return Held(self.buffer, layout)


@dataclass
class Buffer:
    """A piece of memory: an argument, or ours."""

    kind: int
    slot: int
    """The number of the argument or of the constant."""
    bytes: int = 0


@dataclass
class Step:
    """A primitive or a function, with what it reads and what it writes."""

    run: Primitive | Host
    reads: dict[int, Held]
    """By the numbers of arguments."""
    result: Held
    attributes: Attributes | None = None
    """Kept as long as the layouts in it."""


class Plan:
    """The steps of a graph, as they are put down one by one."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.buffers: list[Buffer] = []
        self.steps: list[Step] = []
        self.preparations: list[Step] = []
        """Those on constants alone."""
        self._moved: dict[int, list[tuple[Held, Held]]] = {}

    # -- what values are made of -----------------------------------------------------------------------------------

    def argument(self, kind: int, slot: int, type_: Type) -> Held:
        """An input or a constant."""
        self.buffers.append(Buffer(kind, slot))
        return Held(len(self.buffers) - 1, Layout.strided(self.library, type_.shape, type_.dtype))

    def step(
        self, run: Primitive | Host, reads: dict[int, Held], layout: Layout, attributes: Attributes | None = None
    ) -> Held:
        """Put a step down: what it gives."""
        constant = all(map(self.is_constant, reads.values()))
        self.buffers.append(Buffer(PREPARED if constant else TEMPORARY, 0, layout.bytes))
        result = Held(len(self.buffers) - 1, layout)
        (self.preparations if constant else self.steps).append(Step(run, reads, result, attributes))
        return result

    def is_constant(self, held: Held) -> bool:
        """Whether a value is known when the graph is loaded."""
        return self.buffers[held.buffer].kind in (CONSTANT, PREPARED)

    def moved(self, held: Held, layout: Layout) -> Held:
        """A value in a layout, and in its dtype."""
        if held.layout == layout:
            return held
        known = self._moved.setdefault(held.buffer, [])
        for source, target in known:
            if source.layout == held.layout and target.layout == layout:
                return target
        engine = self.library.engine
        reorder = Primitive(self.library, "reorder", held.layout, engine, layout, engine)
        target = self.step(reorder, {SRC: held}, layout)
        known.append((held, target))
        return target

    def plain(self, held: Held) -> Held:
        """A value as a contiguous array."""
        if held.layout.is_plain:
            return held
        return self.moved(held, Layout.strided(self.library, held.shape, held.dtype))

    def reshaped(self, held: Held, shape: Sequence[int], strides: Sequence[int] | None = None) -> Held:
        """A contiguous value with another shape, or read with these strides."""
        held = self.plain(held)
        return held.seen(Layout.strided(self.library, shape, held.dtype, strides))

    def finish(self, heads: Sequence[Held]) -> None:
        """Give these values as results: contiguous, each in memory of its own."""
        for n, head in enumerate(heads):
            held = self.plain(head)
            if self.buffers[held.buffer].kind != TEMPORARY:
                # An argument, a constant, or a result already: a reorder to the same layout copies.
                engine = self.library.engine
                copy = Primitive(self.library, "reorder", held.layout, engine, held.layout, engine)
                self.buffers.append(Buffer(TEMPORARY, 0, held.layout.bytes))
                copied = Held(len(self.buffers) - 1, held.layout)
                self.steps.append(Step(copy, {SRC: held}, copied))
                held = copied
            self.buffers[held.buffer] = Buffer(OUTPUT, n)


def arguments_of(plan: Plan, graph: Graph) -> dict[int, Held]:
    """The inputs and the constants of a graph, by their nodes."""
    counts = {"input": 0, "const": 0}
    found: dict[int, Held] = {}
    for n, node in enumerate(graph.nodes):
        if node.op in counts:
            kind = INPUT if node.op == "input" else CONSTANT
            found[n] = plan.argument(kind, counts[node.op], node.types[0])
            counts[node.op] += 1
    return found


# -- running it ----------------------------------------------------------------------------------------------------


def _aligned(size: int) -> Array:
    raw = np.empty(size + ALIGNMENT, np.uint8)
    first = -raw.ctypes.data % ALIGNMENT
    return raw[first : first + size]


@dataclass
class _Memories:
    """The dnnl_memory objects of a program, one for each way in which a piece of memory is seen."""

    library: Library
    made: list[Any] = field(default_factory=list[Any])
    outside: dict[tuple[int, int], list[Any]] = field(default_factory=dict[tuple[int, int], list[Any]])
    """Those of inputs and outputs, whose addresses come with each call, by kind and slot."""

    def of(self, layout: Layout, address: int | None) -> Any:
        memory = self.library.make("memory_create", layout.handle, self.library.engine, address)
        self.made.append(memory)
        return memory


class Program:
    """A plan ready to run, with its constants."""

    def __init__(self, plan: Plan, constants: Sequence[Array], threads: int) -> None:
        self.library, self.threads = plan.library, threads
        self._plan = plan
        self._memories = _Memories(plan.library)
        weakref.finalize(self, _destroy, plan.library, self._memories.made)
        self._constants = constants
        self._scratch = _aligned(0)
        self._where: dict[int, Array] = {}
        self._last: dict[tuple[int, int], int] = {}
        with self.library.threads(threads):
            size = [s.run.scratchpad.bytes for s in (*plan.preparations, *plan.steps) if isinstance(s.run, Primitive)]
            self._scratch = _aligned(max(size, default=0))
            for n, buffer in enumerate(plan.buffers):
                if buffer.kind == CONSTANT:
                    self._where[n] = constants[buffer.slot].reshape(-1).view(np.uint8)
                elif buffer.kind == PREPARED:
                    self._where[n] = _aligned(buffer.bytes)
            self._run([self._ready(s) for s in plan.preparations], (), ())
            self._drop_constants()
            self._where |= shared_memory(plan)
            self._steps = [self._ready(s) for s in plan.steps]

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        for (kind, slot), memories in self._memories.outside.items():
            address = (inputs if kind == INPUT else outputs)[slot].ctypes.data
            if self._last.get((kind, slot)) != address:
                for memory in memories:
                    self.library.call("memory_set_data_handle", memory, address)
                self._last[kind, slot] = address
        with self.library.threads(self.threads):
            self._run(self._steps, inputs, outputs)

    def _run(self, steps: Sequence[Callable[..., None]], inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        for step in steps:
            step(inputs, outputs)
        self.library.call("stream_wait", self.library.stream)

    def _drop_constants(self) -> None:
        """Forget what only preparations read."""
        read = {h.buffer for s in self._plan.steps for h in s.reads.values()}
        for n in [n for n in self._where if n not in read]:
            del self._where[n]

    def _ready(self, step: Step) -> Callable[..., None]:
        if not isinstance(step.run, Primitive):
            return self._host(step.run, step)
        uses = [*step.reads.items(), (DST, step.result)]
        memories = [(number, self._memory(held)) for number, held in uses]
        if step.run.scratchpad.bytes:
            memories.append((SCRATCHPAD, self._memories.of(step.run.scratchpad, self._scratch.ctypes.data)))
        arguments = (Argument * len(memories))(*(Argument(*m) for m in memories))
        execute, primitive, stream = (
            self.library.functions["primitive_execute"],
            step.run.primitive,
            self.library.stream,
        )
        count, address = len(memories), ctypes.addressof(arguments)

        def run(_: Sequence[Array], __: Sequence[Array], kept: Any = arguments) -> None:
            status = execute(primitive, stream, count, address)
            if status:
                raise RuntimeError(f"oneDNN failed with status {status}")

        return run

    def _memory(self, held: Held) -> Any:
        buffer = self._plan.buffers[held.buffer]
        if buffer.kind in (INPUT, OUTPUT):
            memory = self._memories.of(held.layout, None)
            self._memories.outside.setdefault((buffer.kind, buffer.slot), []).append(memory)
            return memory
        return self._memories.of(held.layout, self._where[held.buffer].ctypes.data)

    def _host(self, function: Host, step: Step) -> Callable[..., None]:
        (source,) = step.reads.values()

        def flat(held: Held, inputs: Sequence[Array], outputs: Sequence[Array]) -> Array:
            buffer, dtype = self._plan.buffers[held.buffer], numpy_dtype(held.dtype)
            if buffer.kind in (INPUT, OUTPUT):
                return (inputs if buffer.kind == INPUT else outputs)[buffer.slot].reshape(-1)
            return self._where[held.buffer][: prod(held.shape) * dtype.itemsize].view(dtype)

        def run(inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
            function(flat(source, inputs, outputs), flat(step.result, inputs, outputs))

        return run


def _destroy(library: Library, memories: Sequence[Any]) -> None:
    for memory in memories:
        library.functions["memory_destroy"](memory)


def shared_memory(plan: Plan) -> dict[int, Array]:
    """Memory for what is neither given nor asked for: pieces serve again once nobody reads them any more."""
    last = {h.buffer: n for n, s in enumerate(plan.steps) for h in (*s.reads.values(), s.result)}
    pieces: list[int] = []
    free: list[int] = []
    piece: dict[int, int] = {}
    for n, step in enumerate(plan.steps):
        made = step.result.buffer
        if plan.buffers[made].kind == TEMPORARY:
            size = plan.buffers[made].bytes
            fitting = [p for p in free if pieces[p] >= size]
            if fitting or free:
                chosen = min(fitting, key=pieces.__getitem__) if fitting else max(free, key=pieces.__getitem__)
                free.remove(chosen)
                pieces[chosen] = max(pieces[chosen], size)
            else:
                chosen = len(pieces)
                pieces.append(size)
            piece[made] = chosen
        free += {
            piece[h.buffer] for h in (*step.reads.values(), step.result) if h.buffer in piece and last[h.buffer] == n
        }
    memory = [_aligned(size) for size in pieces]
    return {buffer: memory[p] for buffer, p in piece.items()}
