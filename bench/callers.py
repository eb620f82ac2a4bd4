"""Calls a second of one program with several calling threads over those with one, in process and out of a library.

    python bench/callers.py [MODEL ...] [--callers 2] [--rounds 8] [--seconds 2] [--json FILE]

The program has one thread; each call that is under way has memory of its own. A round is some seconds with one caller,
then as many with all, of the executable and of its library; a ratio is what all callers ended in a second over that.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from statistics import fmean
from threading import Barrier, Thread
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from model_set import drawn_inputs, model_proto, processor_name

import lamina


def calls_a_second(call: Callable[[], Any], callers: int, seconds: float) -> float:
    """Calls that so many threads end in a second."""
    ends: list[tuple[int, float]] = []
    barrier = Barrier(callers)

    def work() -> None:
        call()  # this thread's memory is mapped
        barrier.wait()
        count, start = 0, perf_counter()
        while (now := perf_counter() - start) < seconds:
            call()
            count += 1
        ends.append((count, now))

    threads = [Thread(target=work) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(count / took for count, took in ends)


def measured(name: str, callers: int, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """The rows of one model: of the executable and of its library."""
    exe = lamina.compile(model_proto(name), threads=1)
    inputs = drawn_inputs(exe.inputs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.so"
        exe.export(path, "net")
        kinds = {"executable": exe, "library": lamina.ExportedNet(path)}
        ratios: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(rounds):
            for kind, program in kinds.items():
                one, all_ = (calls_a_second(lambda p=program: p.run(inputs), n, seconds) for n in (1, callers))
                ratios[kind].append(all_ / one)
    return [
        {"model": name, "kind": kind, "ratio": exp(fmean(map(log, r))), "least": min(r), "most": max(r)}
        for kind, r in ratios.items()
    ]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["resnet50"], metavar="MODEL", help="(default: resnet50)")
    parser.add_argument("--callers", type=int, default=2, metavar="N")
    parser.add_argument("--rounds", type=int, default=8, metavar="N")
    parser.add_argument("--seconds", type=float, default=2.0, metavar="S", help="of each side of a round (default: 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows")
    args = parser.parse_args()
    print(f"{processor_name()}, {args.callers} callers over one")
    rows: list[dict[str, Any]] = []
    for model in args.models:
        for row in measured(model, args.callers, args.rounds, args.seconds):
            rows.append(row)
            print(f"{model:18}{row['kind']:12}{row['ratio']:.2f} [{row['least']:.2f}, {row['most']:.2f}]", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
