"""Kernels of unknown extents against those made for each size: default schedules, one thread.

    python bench/symbolic_kernels.py [--repeats 31] [--only softmax] [--json FILE]

Both run by turns in this process, without the cost of binding arrays; of each the time is the lower quintile of its
turns, which other processes disturb least. The ratio is the made-to-measure kernel's time over ours: 1 is as fast.
Sizes are the same for all open extents of a kernel: with tiles all whole, one more, and one less.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "unit"))
from symbolic_programs import PROGRAMS

LARGE = {"b": 12, "m": 512, "k": 512, "n": 512}
"""The extents that are numbers, where they are larger than those of tests."""
SIZES = (432, 433, 431, 1008, 1021)
TARGET = "llvm -num-cores=1"
SECONDS = 4e-4
"""Of a turn."""


def by_turns(kernels: Sequence[Any], arrays: Sequence[Any], repeats: int) -> list[float]:
    """Seconds of a call of each, the lower quintile of turns."""
    evaluators: list[Any] = []
    for kernel in kernels:
        once = min(kernel.time_evaluator(number=2)(*arrays).mean for _ in range(2))
        evaluators.append(kernel.time_evaluator(number=max(1, int(SECONDS / once))))
    times: list[list[float]] = [[] for _ in kernels]
    for turn in range(repeats):
        order = range(len(kernels)) if turn % 2 else reversed(range(len(kernels)))
        for n in order:
            times[n].append(evaluators[n](*arrays).mean)
    return [quantiles(t, n=5)[0] for t in times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=31)
    parser.add_argument("--only", help="kernels whose names have this in them")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.repeats < 2:
        parser.error("--repeats is at least 2")
    chosen = {name: p for name, p in PROGRAMS.items() if not args.only or args.only in name}
    if not chosen:
        parser.error(f"no kernel is called {args.only!r}; there is {', '.join(PROGRAMS)}")
    rows: list[dict[str, Any]] = []
    print(f"{'kernel':<38}{'extent':>7}{'us':>10}{'ratio':>7}", flush=True)
    for name, program in chosen.items():
        # Extents that a kernel is about, short rows, are those of tests.
        kept = {e: LARGE[e] if e != "b" and n in (40, 48, 64) else n for e, n in program.extents.items()}
        program = replace(program, extents=kept)
        symbolic = program.kernel(None, TARGET)
        for size in SIZES:
            sizes = {e: LARGE["b"] if e == "b" else size for e in program.open}
            # The same arrays for both: where they lie in memory matters.
            arrays = program.arrays(sizes)
            ours, made = by_turns([program.kernel(sizes, TARGET), symbolic], arrays, args.repeats)[::-1]
            symbolic(*arrays)
            difference = program.difference(arrays)
            rows.append({"kernel": name, "extent": size, "us": ours * 1e6, "ratio": made / ours, "off": difference})
            print(f"{name:<38}{size:>7}{ours * 1e6:>10.1f}{made / ours:>7.2f}", flush=True)
    ratios = [row["ratio"] for row in rows]
    print(
        f"median ratio {median(ratios):.2f}, least {min(ratios):.2f}, {sum(r >= 0.95 for r in ratios)} of "
        f"{len(ratios)} at 0.95 or above"
    )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(row["off"] < 1e-5 for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
