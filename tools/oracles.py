"""The ops' oracles against onnxruntime and ONNX's reference on random graphs, of which nothing is compiled.

    python -m tools.oracles --minutes 10 [--jobs 2] [--seed SEED]

Some twenty graphs in the time that `lamina fuzz` takes for one: it finds what the importer does otherwise than the two,
and what the fuzzer does not know of them yet, before a campaign does. The graphs are those of `lamina fuzz`, where the
seeds that are printed can be replayed.
"""

from __future__ import annotations

import argparse
import random
import secrets
import signal
from itertools import chain, count
from multiprocessing import get_context
from time import monotonic
from typing import Any

from lamina.debugging.comparison import Comparer
from lamina.debugging.fuzz_case import ORACLES, Report, second_opinion, tolerance_of
from lamina.debugging.generators.drawn import drawn, plan_of
from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.ways import Program, by_oracles

LONGEST = 60
"""Seconds that a graph may take."""
BATCH = 1000
"""Seeds that are given out at once."""
GRAPHS = 200
"""Graphs that a process looks at before another one takes its place: what leaks, leaks for so long."""


def compared(seed: int) -> str | None:
    """The difference in the graph of a seed, empty where there is none; None for a case that is not compared."""
    plan = plan_of(seed)
    case = drawn(seed)
    if plan.special or not case.is_onnx or case.alone:
        return None
    signal.alarm(LONGEST)
    try:
        program = Program(case.source, True, case.inputs)
        found, noisy = by_oracles(program)
        comparer = Comparer([p.name for p in program.model.outputs], tolerance_of(program), noisy)
        report = Report(seed, plan.kind, plan.sizes, plan.special, Outcome(Kind.SAME))
        outcome = second_opinion(program, comparer, found, report, random.Random(seed).choice([*ORACLES]))
    except Exception as e:  # whatever it is, it is what this looks for
        return f"{type(e).__name__}: {e}"
    finally:
        signal.alarm(0)
    return outcome.said if outcome is not None else ""


def _with_seed(seed: int) -> tuple[int, str | None]:
    return seed, compared(seed)


def _out_of_time(*_: Any) -> None:
    raise TimeoutError(f"more than {LONGEST} seconds")


def main() -> int:
    """Compare for some minutes, print each difference. The status is 1 where there is one."""
    parser = argparse.ArgumentParser(description="compare the ops' oracles with other programs, compiling nothing")
    parser.add_argument("--minutes", type=float, default=1.0, metavar="M", help="default: 1")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--seed", type=int, metavar="SEED", help="the first seed (default: a fresh one)")
    args = parser.parse_args()
    first = args.seed if args.seed is not None else secrets.randbelow(10**9) * 1000
    signal.signal(signal.SIGALRM, _out_of_time)
    print(f"seeds from {first} on", flush=True)
    end, done, wrong = monotonic() + 60 * args.minutes, 0, 0
    with get_context("fork").Pool(args.jobs, maxtasksperchild=GRAPHS) as pool:
        # A pool takes all that it is given at once.
        batches = (pool.imap_unordered(_with_seed, range(n, n + BATCH)) for n in count(first, BATCH))
        for seed, said in chain.from_iterable(batches):
            done, wrong = done + (said is not None), wrong + bool(said)
            if said:
                print(f"{said}; seed {seed}", flush=True)
            if monotonic() >= end:
                break
        pool.terminate()
    print(f"{done:,} graphs, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
