"""Upper limits of this machine: multiply-adds a second, and bytes a second from each cache and from memory.

The kernels are tensor programs with schedules as any other, compiled by our own passes: twelve independent accumulators
in registers, and sums over as much memory as the level holds. With one thread the time is the thread's own; with
several it is that of all together, the best of some short runs.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lamina.driver.te_program import compiled_text

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr
    from lamina.runtime.compiled import CompiledProgram

ACCUMULATORS = 12
UNROLLED = 4
RUNS = 9
"""Of one thread; of several, that must find the machine idle, four times as many."""
FMA_ROUNDS = 1_000_000
READ_BYTES = 400_000_000
"""Of one thread in a run, at least; once over the whole memory takes longer where it is larger."""
PLAIN_SIZES = {"L1": 32 << 10, "L2": 1 << 20, "L3": 32 << 20}
"""Bytes of each cache where the system does not tell."""
LARGEST = 1 << 29
"""Of the memory that is read, in bytes."""


class Level(NamedTuple):
    """A cache or the memory: how much of it the threads have together, and bytes a second that they read from it."""

    name: str
    size: float
    bandwidth: float


class Roofs(NamedTuple):
    """The machine's limits for so many threads."""

    threads: int
    operations: float
    """On float32 a second; a multiply-add counts two."""
    levels: tuple[Level, ...]
    """From the first cache to the memory, whose size is infinite."""

    def holding(self, size: float) -> Level:
        """The first level that has room for so many bytes."""
        return next(level for level in self.levels if size <= level.size)

    def seconds(self, operations: int, weights: int, data: int, all_weights: int) -> tuple[float, str]:
        """The least time of a kernel, and what limits it: `compute` or the name of a level.

        Its weights come from where those of the whole program fit, its other data from where they fit themselves.
        """
        far, near = self.holding(all_weights), self.holding(data)
        parts = {far.name: weights / far.bandwidth}
        parts[near.name] = parts.get(near.name, 0.0) + data / near.bandwidth
        compute, memory = operations / self.operations, sum(parts.values())
        if compute >= memory:
            return compute, "compute"
        return memory, max(parts, key=lambda name: parts[name])


CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def cache_sizes(folder: Path = CACHES) -> dict[str, int]:
    """Bytes of the data caches of one processor, `L1` to `L3` as far as there are."""
    return _told(folder, "size") or dict(PLAIN_SIZES)


def cache_ways(folder: Path = CACHES) -> dict[str, int]:
    """The lines that each data cache holds of addresses that share their place in it, as far as the system tells."""
    return _told(folder, "ways_of_associativity")


def _told(folder: Path, fact: str) -> dict[str, int]:
    """A number that the system tells of each data cache of one processor; nothing where it does not."""
    found: dict[str, int] = {}
    try:
        for index in sorted(folder.glob("index*")):
            if (index / "type").read_text().strip() == "Instruction":
                continue
            number = (index / fact).read_text().strip()
            scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(number[-1:])
            found[f"L{(index / 'level').read_text().strip()}"] = int(number[:-1]) * scale if scale else int(number)
    except (OSError, ValueError):
        return {}
    return found


def _text(threads: int, lanes: int, size: str, rounds: str, read: str, body: str, split: str) -> str:
    """@main: each thread's accumulators summed over so many rounds."""
    result = f"tensor<{threads}x{ACCUMULATORS}x{lanes}xf32>"
    return f"""
te.func @limit(%X: {size}) -> {result} {{
  %C = te.compute "C" [{threads}, {ACCUMULATORS}, {lanes}] sum [{rounds}] (%t, %a, %l, %r, %n) : {result} {{
    %x = te.read %X[{read}] : {size}
{body}
  }}
  te.return %C : {result}
}}
te.schedule @limit {{
  te.cache_write "C" scope "register"
  %t, %a, %l, %r, %n = te.loops "C" [5]
{split}
  %ot, %oa, %ol = te.reverse_compute_at "C.out" at %t [3]
  te.parallel %t
  te.unroll %a
  te.vectorize %l
  te.unroll %oa
  te.vectorize %ol
}}
func.func @main(%X: {size}) -> {result} {{
  %C = te.call @limit(%X) : ({size}) -> {result}
  func.return %C : {result}
}}
"""


def fma_text(threads: int, lanes: int) -> str:
    """Multiply-adds of two vectors that stay in registers or the first cache."""
    type_ = f"tensor<{threads}x2x{lanes}xf32>"
    body = f"    %y = te.read %X[%t, 1, %l] : {type_}\n    %p = arith.mulf %x, %y : f32\n    te.yield %p : f32"
    split = "  te.reorder %t, %r, %n, %a, %l\n  te.unroll %n"
    rounds = f"{FMA_ROUNDS // UNROLLED}, {UNROLLED}"
    return _text(threads, lanes, type_, rounds, "%t, 0, %l", body, split)


def read_text(threads: int, lanes: int, lines: int, rounds: int) -> str:
    """Sums over `lines` groups of vectors of each thread, again and again."""
    type_ = f"tensor<{threads}x{lines}x{ACCUMULATORS}x{lanes}xf32>"
    split = f"  %no, %ni = te.split %n [-1, {UNROLLED}]\n  te.reorder %t, %r, %no, %ni, %a, %l\n  te.unroll %ni"
    return _text(threads, lanes, type_, f"{rounds}, {lines}", "%t, %n, %a, %l", "    te.yield %x : f32", split)


def _rate(program: CompiledProgram, x: Any, work: float, threads: int) -> float:
    """Work a second, where each thread does `work`."""
    from lamina.runtime.trace import traced_runs

    rates: list[float] = []
    for run in traced_runs(program, {"X": x}, 1 + (RUNS if threads == 1 else 4 * RUNS))[1:]:
        own = sum(s.busy for s in run)
        span = max(s.end for s in run) - min(s.start for s in run)
        rates.append(work * threads / ((own if threads == 1 else span) / 1e9))
    # What else runs on the machine can only make several threads slower.
    return median(rates) if threads == 1 else max(rates)


def _lanes(target: TargetAttr) -> int:
    return target.vector_bits.data // 32


@cache
def measured(target: TargetAttr) -> Roofs:
    """The roofs of this machine for a target's vectors and threads, in about a second."""
    threads, lanes = target.threads.data, _lanes(target)
    ones = np.ones((threads, 2, lanes), np.float32)
    work = 2.0 * ACCUMULATORS * lanes * FMA_ROUNDS
    operations = _rate(compiled_text(fma_text(threads, lanes), "roof.mlir", target), ones, work, threads)
    levels = tuple(_level(name, size, target) for name, size in _working_sets(cache_sizes(), threads).items())
    return Roofs(threads, operations, levels)


def _working_sets(caches: dict[str, int], threads: int) -> dict[str, tuple[float, int]]:
    """Of each level its size for all threads together, and how much of it each thread reads."""
    found: dict[str, tuple[float, int]] = {}
    shared = max(caches)
    for name, size in sorted(caches.items()):
        own = size // (threads if name == shared and name != "L1" else 1)
        found[name] = (float(own * threads), own // 2)
    found["DRAM"] = (float("inf"), min(4 * caches[shared], LARGEST) // threads)
    return found


def _level(name: str, sizes: tuple[float, int], target: TargetAttr) -> Level:
    threads, lanes = target.threads.data, _lanes(target)
    line = ACCUMULATORS * lanes * 4
    lines = max(sizes[1] // line // UNROLLED, 1) * UNROLLED
    rounds = max(READ_BYTES // (lines * line), 1) if name != "DRAM" else 1
    # Memory that nobody has written is one page of zeros: it would be read from the first cache.
    x = np.ones((threads, lines, ACCUMULATORS, lanes), np.float32)
    program = compiled_text(read_text(threads, lanes, lines, rounds), "roof.mlir", target)
    return Level(name, sizes[0], _rate(program, x, float(lines * line * rounds), threads))
