"""Measurement of a processor's figures (`backends/cpu/figures.py`), in some ten seconds.

Loops of one kind of operation (`core_loops.py`) run by turns with a chain of dependent additions, which take a cycle
each: what the clock does in the meantime, and who else runs on the machine, changes both alike. Caches are read as the
roofs are (`roofs.py`), their sizes are those that the system tells.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import median
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.backends.cpu.costs import FITTED
from lamina.backends.cpu.figures import Figures
from lamina.backends.cpu.tiles import busy_cycles
from lamina.roofline import core_loops, roofs
from lamina.roofline.core_loops import Loop, Vectors

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

Tell = Callable[[str], object]

ROUNDS = 9
"""Measurements of each loop; their median counts."""
RUN = 2e-3
"""Seconds of each, about."""
TILE_VECTORS = 2
"""Vectors of the register tile that is timed."""
STEPS = (1, 2, 4, 8, 16, 32, 64)
"""Steps of it in one body of code."""
LEAST_STEP = 1e-3
"""Cycles of a step beyond its operations, where it takes no longer than these."""
SLOWER = 1.04
"""Times as long as in the best body, from which on a body is too long: more than its measurements are apart."""
SHARERS = 2
"""Users of the last-level cache, of whom each finds its part again: other cores' data, and code and weights."""
PARALLEL_LOOPS = 500
"""Parallel loops that show what a barrier costs."""


class TimedCore:
    """A core that runs loops, and its cycle."""

    def __init__(self, target: TargetAttr) -> None:
        self.target = target
        self.vectors = Vectors.of(target)
        self._data = np.zeros(core_loops.DATA_BYTES + 64, np.uint8)
        self._at = -(-self._data.ctypes.data // 64) * 64
        self._cycle = self._timed(core_loops.chain(self.vectors))

    def cycles(self, loop: Loop) -> float:
        """Cycles of an operation of a loop."""
        timed = self._timed(loop)
        return median(timed() / self._cycle() for _ in range(ROUNDS))

    def gigahertz(self) -> float:
        """Cycles in a nanosecond."""
        return 1e-9 / median(self._cycle() for _ in range(ROUNDS))

    def code_bytes(self, loop: Loop) -> int:
        """Bytes of the machine code of a loop."""
        import llvmlite.binding as binding  # pyright: ignore[reportMissingTypeStubs]

        from lamina.backends.cpu.jit import compile_object

        files: Any = binding
        sections = files.ObjectFileRef.from_data(compile_object(loop.text, self.target)).sections()
        return sum(s.size() for s in sections if s.is_text())

    def _timed(self, loop: Loop) -> Callable[[], float]:
        """A function that runs a loop for a while: the seconds of an operation, of this thread's own time."""
        from lamina.backends.cpu.jit import compile_object
        from lamina.backends.cpu.link import load_objects

        library = load_objects([compile_object(loop.text, self.target)])
        run = library.function("run", None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

        def timed(rounds: int) -> float:
            start = thread_time()
            run(self._at, rounds, 1)
            return thread_time() - start

        timed(1)
        rounds = 1000
        while (once := timed(rounds)) < RUN / 4:
            rounds *= 2
        rounds = max(1, int(rounds * RUN / once))
        return lambda: timed(rounds) / (rounds * loop.operations)


def calibrate(target: TargetAttr, tell: Tell = lambda _: None) -> Figures:
    """Measure the figures of this machine for a target's vectors and threads. `tell` hears what is measured next."""
    core, found = TimedCore(target), dict[str, Any]()
    v = core.vectors
    tell("multiply-adds, loads and stores")
    found |= {name: 1 / core.cycles(loop) for name, loop in _rates(v)}
    found["latency"] = core.cycles(core_loops.multiply_adds(v, 1))
    found["gigahertz"] = core.gigahertz()
    tell("bodies of code")
    found["body_bytes"], step = _bodies(core)
    tell("caches and memory")
    found |= _levels(target, found["gigahertz"])
    tell("threads")
    found["barrier"] = max(_barrier(target.threads.data) * found["gigahertz"] * 1e9, 1.0)
    known = Figures.of(found | {"step": LEAST_STEP}, "calibration")
    busy = busy_cycles(_rows(v), TILE_VECTORS, replace(FITTED, figures=known))
    return replace(known, step=max(step - busy, LEAST_STEP))


def _rates(v: Vectors) -> Iterator[tuple[str, Loop]]:
    yield "fma", core_loops.multiply_adds(v)
    yield "fma_load", core_loops.multiply_adds(v, operand="load")
    yield "fma_broadcast", core_loops.multiply_adds(v, operand="broadcast")
    yield "load", core_loops.loads(v)
    yield "broadcast", core_loops.broadcasts(v)
    yield "store", core_loops.stores(v)


def _rows(v: Vectors) -> int:
    """Rows of the tile that is timed: sums in half of the registers, whatever else the steps need."""
    return v.registers // 2 // TILE_VECTORS


def _bodies(core: TimedCore) -> tuple[int, float]:
    """Bytes of code of the longest body whose steps take no longer than those of the best one; cycles of these."""
    rows = _rows(core.vectors)
    loops = [core_loops.tile(core.vectors, rows, TILE_VECTORS, steps) for steps in STEPS]
    cycles = [core.cycles(loop) for loop in loops]
    fast = [loop for loop, taken in zip(loops, cycles, strict=True) if taken <= SLOWER * min(cycles)]
    return core.code_bytes(fast[-1]), min(cycles) * rows * TILE_VECTORS


def _levels(target: TargetAttr, gigahertz: float) -> dict[str, Any]:
    """Sizes of the caches, and bytes that a core reads from each in a cycle, alone and with all others."""
    ways = roofs.cache_ways()
    found: dict[str, Any] = {}
    for threads, suffix in ((1, ""), (target.threads.data, "_shared")):
        measured = roofs.measured(target.with_threads(threads))
        speeds = {level.name: level.bandwidth / threads / gigahertz / 1e9 for level in measured.levels}
        memory = speeds.pop("DRAM")
        last = speeds[max(speeds)]  # a machine of two levels has no third
        found |= {f"l3_speed{suffix}": speeds.get("L3", last), f"memory_speed{suffix}": memory}
        if threads == 1 and not suffix:
            found["l2_speed"] = speeds.get("L2", last)
            sizes = {level.name: int(level.size) for level in measured.levels if level.name != "DRAM"}
            for level in ("L1", "L2", "L3"):
                found[f"{level.lower()}_bytes"] = sizes.get(level, sizes[max(sizes)])
            found["l3_bytes"] = max(found["l3_bytes"] // SHARERS, found["l2_bytes"])
    return found | {"l1_ways": ways.get("L1") or 8}  # some virtual machines tell 0


def _barrier(threads: int) -> float:
    """Seconds that a parallel loop takes beyond its iterations: to wake, and to wait for one another.

    The same iteration is run once, and once by each thread; the least of many runs of either counts.
    """
    from lamina.backends.cpu.jit import compile_object, host_target
    from lamina.backends.cpu.link import load_objects
    from lamina.runtime.program import ThreadPool

    library = load_objects([compile_object(core_loops.WORK, host_target(1))])
    taken: dict[int, list[float]] = {1: [], threads: []}
    with ThreadPool(threads) as pool:
        for _ in range(PARALLEL_LOOPS):
            for extent, times in taken.items():
                start = perf_counter()
                pool.parallel(library.address("work"), 0, extent, 1)
                times.append(perf_counter() - start)
    return min(taken[threads]) - min(taken[1])
