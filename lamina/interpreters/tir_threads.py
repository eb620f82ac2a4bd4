"""GPU threads, simulated: all threads of a block run up to a barrier, then go on; races are found and named.

A launch is an outermost loop of kind `thread` (a `vthread` apart). All its ops run once in every thread, that is, for
each combination of values of the thread axes that occur in the launch; two loops bound to the same axis are the same
threads, and the axis is as long as the longest of them. A loop over an axis runs its body in the threads
whose number is less than the loop's extent, once, with the variable being that number. So what stands in a launch
beside its loops is done by all threads, as on the machine. The next launch begins when all threads have ended.

Memory of scope `shared`, and of scope `global` made inside of a launch but outside of its threadIdx loops, is one
buffer for each block; anything else made inside of a launch is one for each thread. A loop over a `vthread` axis
is run by one thread, which takes its iterations together from barrier to barrier; buffers made in it are one for
each iteration.

Two accesses to one element, one of them a write, race unless they are by one thread, or by two threads of one block
with a barrier between them (for `warp` barriers: by two threads of one group of 32). No order is known between
blocks. Whatever the order in which threads are taken here, a race is found from the accesses alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

from xdsl.ir import Operation

from lamina.dialects.tir.control import BarrierOp
from lamina.errors import InputError
from lamina.interpreters.tir_memory import Memory, RaceError, Tracker

WARP = 32
"""Threads that a barrier of scope `warp` holds together, counted along threadIdx.x, then y, then z."""

BLOCK_TAGS = ("blockIdx.z", "blockIdx.y", "blockIdx.x")
THREAD_TAGS = ("threadIdx.z", "threadIdx.y", "threadIdx.x")


class BarrierError(InputError):
    """A barrier that not all threads of a block reach."""


class Arrival(NamedTuple):
    """The place where a thread waits: a barrier, and the values of the loops around it that are no thread axes."""

    barrier: Operation
    iteration: tuple[int, ...]


Waiting = Generator[Arrival, None, None]
"""A thread on its way: it stops at barriers."""
Body = Callable[[list[Any]], Waiting]


def _scope(place: Arrival) -> str:
    return place.barrier.scope.data if isinstance(place.barrier, BarrierOp) else ""


class _Now(NamedTuple):
    """A thread between two barriers: block, phase (never the same in two blocks), thread, rounds of its warp."""

    block: int
    phase: int
    thread: int
    round: int


class ThreadTracker:
    """Readers and writers of the elements that the threads of one launch share."""

    __slots__ = ("_names", "_now", "_warps", "_writers", "_readers")

    def __init__(self, names: Callable[[int, int], str], warps: bool) -> None:
        self._names = names
        self._warps = warps
        self._now = _Now(0, 0, 0, 0)
        self._writers: dict[tuple[int, int], _Now] = {}
        self._readers: dict[tuple[int, int], tuple[_Now, list[_Now]]] = {}
        """The first reader of all, and those of the current phase: two of them tell all, except with warps."""

    def enter(self, block: int, phase: int, thread: int, round: int = 0) -> None:
        """From here on it is this thread that reads and writes."""
        self._now = _Now(block, phase, thread, round)

    def read(self, memory: Memory, flat: int) -> None:
        now, key = self._now, (memory.key, flat)
        writer = self._writers.get(key)
        if writer is not None and writer is not now and not _ordered(writer, now):
            raise self._race(memory, flat, f"written by {self._name(writer)} and read by {self._name(now)}")
        found = self._readers.get(key)
        if found is None:
            self._readers[key] = (now, [now])
            return
        first, recent = found
        if recent[-1] is now:
            return
        if recent[0].phase != now.phase:
            self._readers[key] = (first, [now])
        elif self._warps or (len(recent) < 2 and recent[0].thread != now.thread):
            recent.append(now)

    def write(self, memory: Memory, flat: int, new: Any) -> None:
        now, key = self._now, (memory.key, flat)
        writer = self._writers.get(key)
        if writer is not None and writer is not now and not _ordered(writer, now):
            raise self._race(memory, flat, f"written by {self._name(writer)} and by {self._name(now)}")
        found = self._readers.get(key)
        if found is not None:
            for reader in (found[0], *found[1]):
                if not _ordered(reader, now):
                    raise self._race(memory, flat, f"read by {self._name(reader)} and written by {self._name(now)}")
        self._writers[key] = now

    def _name(self, at: _Now) -> str:
        return f"thread {self._names(at.block, at.thread)}"

    def _race(self, memory: Memory, flat: int, how: str) -> RaceError:
        return RaceError(f"threads race: %{memory.name}{memory.place(flat)} is {how}, no barrier between")


def _ordered(a: _Now, b: _Now) -> bool:
    """Whether a barrier, or being one thread, puts one access before the other."""
    if a.block != b.block:
        return False
    if a.phase != b.phase or a.thread == b.thread:
        return True
    return a.thread // WARP == b.thread // WARP and a.round != b.round


class Scheduler:
    """Runs the blocks of one launch, one after the other."""

    def __init__(self, tracker: ThreadTracker, names: Callable[[int, int], str]) -> None:
        self.tracker = tracker
        self.names = names
        self.block = -1
        self.phase = 0

    def run(self, threads: Sequence[Waiting]) -> None:
        """The next block: all threads up to a barrier, then all again. Raises BarrierError."""
        self.block += 1
        while True:
            self.phase += 1
            places: list[Arrival | None] = []
            for start in range(0, len(threads), WARP):
                places += self._advance(threads, range(start, min(start + WARP, len(threads))))
            if not self._agree(places, 0):
                return

    def _advance(self, threads: Sequence[Waiting], warp: range) -> list[Arrival | None]:
        """A warp up to a barrier of the block; it may pass barriers of its own."""
        round_ = 0
        while True:
            places: list[Arrival | None] = []
            for number in warp:
                self.tracker.enter(self.block, self.phase, number, round_)
                places.append(next(threads[number], None))
            if not any(p is not None and _scope(p) == "warp" for p in places):
                return places
            self._agree(places, warp.start)
            round_ += 1

    def _agree(self, places: Sequence[Arrival | None], first: int) -> bool:
        """Whether the threads wait at a barrier: all at the same, in the same iteration. False where all have ended."""
        waiting = next((n for n, p in enumerate(places) if p is not None), None)
        if waiting is None:
            return False
        place = places[waiting]
        assert place is not None
        scope = _scope(place)
        for n, other in enumerate(places):
            if other == place:
                continue
            a, b = (self.names(self.block, first + m) for m in (waiting, n))
            if other is None:
                how = f"is reached by thread {a}, but not by thread {b}, which has ended"
            elif other.barrier is not place.barrier:
                how = f"is reached by thread {a}, while thread {b} waits at another"
            else:
                how = f"is reached by threads {a} and {b} in different iterations of the loops around it"
            raise BarrierError(f'tir.barrier "{scope}" {how}', op=place.barrier)
        return True


def in_one_thread(
    body: Body, variable: int, extent: Callable[[list[Any]], int], tracker: int, track: Callable[[], Tracker]
) -> Body:
    """A loop whose iterations one thread takes together, each in an environment of its own.

    `variable` and `tracker` are the slots of the loop's variable and of its tracker, which `track` makes.
    """

    def run(env: list[Any]) -> Waiting:
        tracked = env[tracker] = track()
        own: list[Waiting] = []
        for i in range(extent(env)):
            copied = list(env)
            copied[variable] = i
            own.append(body(copied))
        yield from _together(own, tracked)

    return run


def _together(iterations: Sequence[Waiting], tracker: Tracker) -> Waiting:
    """The iterations of a vthread loop in one thread: each up to a barrier, where the thread waits once for all."""
    while True:
        places: list[Arrival | None] = []
        for n, run in enumerate(iterations):
            tracker.iteration = n
            places.append(next(run, None))
        first = next((p for p in places if p is not None), None)
        if first is None:
            return
        if any(p != first for p in places):
            raise BarrierError(
                f'tir.barrier "{_scope(first)}" is not reached by all iterations of loop "{tracker.loop}"',
                op=first.barrier,
            )
        tracker.meet()
        yield first
