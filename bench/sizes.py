"""One program for all sizes against the program for each size, and against onnxruntime.

    python bench/sizes.py [--models bert_base,lstm] [--count 40] [--threads 1] [--repeats 11] [--json FILE]

A size is drawn by a fixed seed, beside 1, the largest, primes and powers of two. All three run by turns in this
process; a time is the median of its turns, and a ratio the other's time over that of the program for all sizes: above
1 it is the faster. What they compute is compared in the same run. Exit status 1 where numbers differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import zoo
from decode import by_turns
from model_set import processor_name

TOLERANCE = 1e-4
"""Of the largest value."""
SECONDS = 3.0
"""For the turns of a size; the larger have fewer turns, but five."""


def sizes(largest: int, count: int, seed: int = 0) -> list[int]:
    """So many sizes of 1 to the largest: a third powers of two, a third primes, the rest any, in order."""
    random = Random(seed)
    primes = [n for n in range(2, largest) if all(n % d for d in range(2, int(n**0.5) + 1))]
    powers = [1 << n for n in range(1, largest.bit_length()) if 1 << n < largest]
    chosen = {1, largest}
    for kind, most in ((powers, count // 3), (primes, count // 3), (range(1, largest + 1), count)):
        fresh = [n for n in kind if n not in chosen]
        chosen.update(random.sample(fresh, min(len(fresh), most, count - len(chosen))))
    return sorted(chosen)


def inputs(ports: Sequence[Any]) -> dict[str, Any]:
    """Values for the inputs; integers are 0 or 1: kinds, masks and words all have these."""
    random: Any = np.random.default_rng(0)
    made: dict[str, Any] = {}
    for port in ports:
        drawn = random.integers(0, 2, port.shape)
        made[port.name] = random.standard_normal(port.shape, np.float32) if port.dtype == "float32" else drawn
    return made


def compared(name: str, path: Path, size: int, exe: Any, args: argparse.Namespace) -> dict[str, Any]:
    """Times of a size, the seconds that its own program took to compile, and how far results are apart."""
    import lamina
    from lamina.measure.timing import onnxruntime_session

    symbol = zoo.OPEN[name][0]
    start = perf_counter()
    alone = lamina.compile(path, shapes={symbol: size}, threads=args.threads, cache=False)
    seconds = perf_counter() - start
    values = inputs(alone.inputs)
    runtime = onnxruntime_session(str(path), args.threads)
    steps = {
        "ours": lambda: next(iter(exe.run(values).values())),
        "alone": lambda: next(iter(alone.run(values).values())),
        "onnxruntime": lambda: runtime.run(None, values)[0],
    }
    expected = steps["onnxruntime"]()
    start = perf_counter()
    difference = float(np.abs(steps["ours"]() - expected).max() / np.abs(expected).max())
    turns = int(SECONDS / (3 * (perf_counter() - start)))
    times = by_turns(steps, max(5, min(args.repeats, turns)), pause=0.05 if args.threads > 1 else 0.0)
    return {"model": name, "size": size, "difference": difference, "compile": seconds, **times}


def measured(name: str, args: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of a model, printed as they come."""
    import lamina

    symbol, largest, make = zoo.OPEN[name]
    path = Path("build") / f"open-{name}.onnx"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(make().SerializeToString())
    lamina.compile(path, shapes={symbol: 1}, threads=args.threads, cache=False)  # imports are no part of the time
    start = perf_counter()
    exe = lamina.compile(path, shapes={symbol: f"1..{largest}"}, threads=args.threads, cache=False)
    seconds = perf_counter() - start
    print(f"{name}: {symbol} 1..{largest}, compiled in {seconds:.1f} s")
    print(f"{symbol:>8}{'time':>12}{'alone':>8}{'onnxruntime':>13}{'difference':>12}{'compiled':>11}")
    rows: list[dict[str, Any]] = []
    for size in sizes(largest, args.count):
        row = compared(name, path, size, exe, args)
        rows.append(row)
        mine = row["ours"]
        ratios = f"{row['alone'] / mine:>8.2f}{row['onnxruntime'] / mine:>13.2f}{row['difference']:>12.1e}"
        print(f"{size:>8}{mine * 1e3:>9.2f} ms{ratios}{row['compile']:>9.1f} s", flush=True)
    alone = [row["alone"] / row["ours"] for row in rows]
    theirs = median(row["onnxruntime"] / row["ours"] for row in rows)
    print(
        f"{name}: {sum(r >= 0.95 for r in alone)} of {len(alone)} at 0.95 of the program for the size or above, least "
        f"{min(alone):.2f}, median {median(alone):.2f}; onnxruntime's median {theirs:.2f}; compile time "
        f"{seconds / median(row['compile'] for row in rows):.2f} of the median of theirs"
    )
    return rows


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(zoo.OPEN), help="names, with commas between")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(words)
    if args.count < 3:
        parser.error("--count is at least 3")
    names = args.models.split(",")
    for name in names:
        if name not in zoo.OPEN:
            parser.error(f"no model is called {name!r}; there is {', '.join(zoo.OPEN)}")
    print(f"{processor_name()}, {args.threads} threads")
    rows = [row for name in names for row in measured(name, args)]
    if args.json is not None:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0 if all(row["difference"] < TOLERANCE for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
