"""The ops' oracles against onnxruntime and ONNX's reference on random graphs, of which nothing is compiled.

    python -m tools.oracles --minutes 10 [--jobs 2] [--seed SEED]

Some fifteen graphs in the time that `lamina fuzz` takes for one: it finds what the importer does otherwise than these
two, and what the fuzzer does not know of them yet, before a campaign does. The graphs are those of `lamina fuzz`, where
the seeds that are printed can be replayed.
"""

from __future__ import annotations

import argparse
import random
import secrets
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from time import monotonic

from lamina.debugging.campaign import LONGEST, PRELOAD
from lamina.debugging.comparison import Comparer
from lamina.debugging.fuzz_case import ORACLES, Report, second_opinion, tolerance_of
from lamina.debugging.generators.drawn import drawn, plan_of
from lamina.debugging.isolate import Server
from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.ways import Program, by_oracles, results_of

COMPARED = "tools.oracles:compared"


def compared(seed: int) -> str | None:
    """The difference in the graph of a seed, empty where there is none; None for a case that is not compared."""
    plan = plan_of(seed)
    case = drawn(seed)
    if plan.special or not case.is_onnx or case.alone:
        return None
    program = Program(case.source, True, case.inputs)
    found, _ = by_oracles(program)
    names = [p.name for p in program.model.outputs]
    comparer = Comparer(names, tolerance_of(program), results_of(program, others=True))
    report = Report(seed, plan.kind, plan.sizes, plan.special, Outcome(Kind.SAME))
    outcome = second_opinion(program, comparer, found, report, random.Random(seed).choice([*ORACLES]))
    return outcome.said if outcome is not None else ""


def _compare(seeds: Iterator[int], end: float) -> Counter[str]:
    """Graphs that are the same, and that differ, from one process after the other, until the time is up."""
    counts = Counter[str]()
    with Server((*PRELOAD, COMPARED.split(":")[0])) as server:
        for seed in seeds:
            said = server.call(COMPARED, {"seed": seed}, LONGEST)
            said = f"{said.kind}: {said.said}" if isinstance(said, Outcome) else said
            if said:
                print(f"{said}; seed {seed}", flush=True)
            if said is not None:
                counts["differ" if said else "same"] += 1
            if monotonic() >= end:
                break
    return counts


def main() -> int:
    """Compare for some minutes, print each difference. The status is 1 where there is one."""
    parser = argparse.ArgumentParser(description="compare the ops' oracles with other programs, compiling nothing")
    parser.add_argument("--minutes", type=float, default=1.0, metavar="M", help="default: 1")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--seed", type=int, metavar="SEED", help="the first seed (default: a fresh one)")
    args = parser.parse_args()
    first = args.seed if args.seed is not None else secrets.randbelow(10**9) * 1000
    print(f"seeds from {first} on", flush=True)
    seeds, end = count(first), monotonic() + 60 * args.minutes
    with ThreadPoolExecutor(args.jobs) as pool:
        running = [pool.submit(_compare, seeds, end) for _ in range(args.jobs)]
        counts = sum((r.result() for r in running), Counter[str]())
    print(f"{counts.total():,} graphs, {counts['differ']} differ")
    return 1 if counts["differ"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
