"""Costs and gains of threads: an empty job with workers awake and asleep, each kernel on one thread and on several.

    python bench/threads.py [--threads 2] [--model resnet50] [--rounds 11] [--json FILE]

The first part calls the pool with a job that does nothing: many in a row, with the workers spinning, and single ones
after a pause in which they have fallen asleep. Medians and, beside them, first deciles, which other work on the machine
disturbs less; `lost` is what the caller pays beyond a plain call, by the first deciles. The goal: at most 20 us lost
when a worker sleeps. Then what it costs the threads of a team to meet at a barrier, which on a busy machine is what it
takes the system to run them in turn. The second part runs a model's program on one thread and on several by turns,
kernel by kernel, in wall time: it means little on a machine that has other work.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "bench")]

MOST_LOST = 20.0
"""Microseconds."""
CALLS = 1000
PAUSE = 0.003
"""Seconds after which a worker sleeps for sure."""

MEETINGS = 200
PATIENT = 200_000
"""Polls that a team waits for its workers here, some milliseconds: it is the barriers that are timed."""

EMPTY = """
define void @empty(ptr %args, i64 %lo, i64 %hi) nounwind { ret void }

define void @many(ptr %parallel, i64 %calls, i64 %extent, ptr %pool) nounwind {
entry:
  br label %next
next:
  %n = phi i64 [0, %entry], [%following, %next]
  call void %parallel(ptr @empty, ptr null, i64 %extent, i64 1, ptr %pool)
  %following = add i64 %n, 1
  %more = icmp slt i64 %following, %calls
  br i1 %more, label %next, label %done
done:
  ret void
}

define void @meetings(ptr %args, i64 %me, i64 %size) nounwind {
entry:
  %numbers = load ptr, ptr %args
  %meet.at = getelementptr ptr, ptr %args, i64 1
  %size.at = getelementptr ptr, ptr %args, i64 2
  %meet = load ptr, ptr %meet.at
  %first = icmp eq i64 %me, 0
  br i1 %first, label %note, label %next
note:
  store i64 %size, ptr %size.at
  br label %next
next:
  %n = phi i64 [1, %entry], [1, %note], [%following, %next]
  call void %meet(ptr %numbers, i64 %me, i64 %size, i64 %n)
  %following = add i64 %n, 1
  %more = icmp sle i64 %following, MEETINGS
  br i1 %more, label %next, label %done
done:
  ret void
}
""".replace("MEETINGS", str(MEETINGS))


def empty_jobs(threads: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Microseconds of an empty job, by the state of the workers: first decile and median."""
    import ctypes

    from lamina.backends.cpu.jit import compile_object, host_target
    from lamina.backends.cpu.link import load_objects
    from lamina.backends.cpu.runtime.modules import runtime_library
    from lamina.runtime.program import ThreadPool

    i64, ptr = ctypes.c_int64, ctypes.c_void_p
    library = load_objects([compile_object(EMPTY, host_target(1))])
    parallel = runtime_library().address("lamina_parallel")
    many = library.function("many", None, ptr, i64, i64, ptr)

    def timed(calls: int, address: int | None) -> float:
        start = perf_counter()
        many(parallel, calls, 2 * threads, address)
        return (perf_counter() - start) / calls * 1e6

    found: dict[str, list[float]] = {}
    with ThreadPool(threads) as pool, pool.lock:
        address = pool.address()
        for _ in range(rounds):
            found.setdefault("alone", []).append(timed(CALLS, None))
            found.setdefault("workers awake", []).append(timed(CALLS, address))
            sleep(PAUSE)
            found.setdefault("one call alone", []).append(timed(1, None))
            sleep(PAUSE)
            found.setdefault("one call, workers asleep", []).append(timed(1, address))
    return {name: (sorted(values)[len(values) // 10], median(values)) for name, values in found.items()}


def barriers(threads: int, rounds: int) -> tuple[float, float] | None:
    """Microseconds of a barrier among so many threads, first decile and median; None where no worker ever came."""
    import ctypes

    from lamina.backends.cpu.jit import compile_object, host_target
    from lamina.backends.cpu.link import load_objects
    from lamina.backends.cpu.runtime.modules import runtime_library
    from lamina.runtime.program import NUMBERS_OFFSET, ThreadPool

    i64, ptr = ctypes.c_int64, ctypes.c_void_p
    library = load_objects([compile_object(EMPTY, host_target(1))])
    runtime = runtime_library()
    team = runtime.function("lamina_team", None, ptr, ptr, i64, i64, ptr)
    times: list[float] = []
    with ThreadPool(threads) as pool, pool.lock:
        address = pool.address()
        if address is None:
            return None
        numbers = i64.from_address(address + NUMBERS_OFFSET).value
        words = (i64 * 3)(numbers, runtime.address("lamina_meet"), 0)
        for _ in range(rounds):
            start = perf_counter()
            team(library.address("meetings"), ctypes.addressof(words), threads, PATIENT, address)
            # Threads that do not come, or more than there are processors, have no part in it.
            if words[2] == threads:
                times.append((perf_counter() - start) / MEETINGS * 1e6)
    return (sorted(times)[len(times) // 10], median(times)) if times else None


def kernels(name: str, threads: int, rounds: int) -> list[dict[str, Any]]:
    """Seconds of each kernel of a model on one thread and on several."""
    import models
    import zoo

    import lamina
    from lamina.measure.timing import random_inputs

    model = models.light_model(name) if name in models.LIGHT_MODELS else zoo.ZOO[name]()
    data = model.SerializeToString()
    programs = [lamina.compile(data, threads=n) for n in (1, threads)]
    inputs = random_inputs(programs[0].inputs)
    times: list[dict[str, list[float]]] = [{}, {}]
    for _ in range(rounds):
        for exe, found in zip(programs, times, strict=True):
            for row in exe.profile(inputs, 1):
                found.setdefault(row.nodes, []).append(row.seconds)
    one, several = ({nodes: median(values) for nodes, values in found.items()} for found in times)
    shared = [n for n in one if n in several]
    rows = [{"nodes": n, "one": one[n], "several": several[n], "speedup": one[n] / several[n]} for n in shared]
    return sorted(rows, key=lambda row: -row["one"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--model", default="resnet50", help="none leaves the second part out")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--limit", type=int, default=30, help="kernels to print, the longest first")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    found: dict[str, Any] = {"threads": args.threads, "empty": empty_jobs(args.threads, max(args.rounds, 101))}
    print(f"{'us of an empty job':<28}{'median':>9}{'p10':>9}{'lost':>9}")
    lost = 0.0
    for name, (us, middle) in found["empty"].items():
        lost = us - found["empty"]["one call alone" if name.startswith("one call") else "alone"][0]
        print(f"{name:<28}{middle:>9.2f}{us:>9.2f}{lost:>9.2f}")
    met = found["barrier"] = barriers(args.threads, max(args.rounds, 41))
    if met is not None:
        print(f"{'barrier of a team':<28}{met[1]:>9.3f}{met[0]:>9.3f}")
    print(f"lost when workers sleep: {lost:.1f} us (goal: at most {MOST_LOST:.0f})", flush=True)
    if args.model != "none":
        rows = found["kernels"] = kernels(args.model, args.threads, args.rounds)
        print(f"\n{args.model}: {'1 thread':>12}{f'{args.threads} threads':>12}{'':>9}")
        for row in rows[: args.limit]:
            print(f"{row['one'] * 1e6:>18.0f} us{row['several'] * 1e6:>9.0f} us{row['speedup']:>8.2f}x  {row['nodes']}")
        totals = [sum(row[side] for row in rows) for side in ("one", "several")]
        found["speedup"] = totals[0] / totals[1]
        print(f"{totals[0] * 1e6:>18.0f} us{totals[1] * 1e6:>9.0f} us{found['speedup']:>8.2f}x  total")
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=2) + "\n")
    return 0 if lost <= MOST_LOST else 1


if __name__ == "__main__":
    sys.exit(main())
