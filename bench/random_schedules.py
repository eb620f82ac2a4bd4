"""Random schedules over small programs, and an oracle for what is refused: the full run.

    python bench/random_schedules.py [--count 6000] [--first 0] [--jobs 2] [--no-compile]

Each seed is a program and a schedule of 8 to 14 primitives, drawn blind. Accepted schedules must give the program's
expressions, run in turn and by threads, read back from their text, and as machine code its numbers; no pass for threads
may refuse them. A primitive that is refused for its meaning is applied unchecked and judged
(`test/unit/random_schedules.py`). Exit status 1 where an accepted schedule is different. The goals: 0 accepted and
different; at most 10 % wrongly refused; each primitive in at least 100 accepted schedules; a median length of at least
8.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "unit"))

CHUNK = 25
CONTEXT = multiprocessing.get_context("spawn")


def run(first: int, count: int, compiled: bool, without: list[str]) -> tuple[object, dict[str, list[int]]]:
    """Statistics of some seeds, and the seeds that failed by message."""
    import random_schedules as drawn

    statistics = drawn.Statistics()
    failed: dict[str, list[int]] = {}
    for seed in range(first, first + count):
        try:
            schedule = drawn.RandomSchedule(seed, statistics, without)
            schedule.draw(schedule.r.randint(8, 14))
            schedule.check(compiled)
        except Exception as error:
            first_line = (str(error).splitlines() or [""])[0].removeprefix(f"seed {seed}, ")
            failed.setdefault(f"{type(error).__name__}: {first_line}"[:160], []).append(seed)
    return statistics, failed


def run_apart(first: int, count: int, compiled: bool, without: list[str]) -> list[tuple[object, dict[str, list[int]]]]:
    """`run` in a process of its own; where that dies, seed by seed, so that the guilty one is known."""
    receiver, sender = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_send, args=(sender, first, count, compiled, without))
    process.start()
    sender.close()
    try:
        return [receiver.recv()]
    except EOFError:
        if count == 1:
            import random_schedules as drawn

            return [(drawn.Statistics(), {"the process died": [first]})]
        return [found for n in range(first, first + count) for found in run_apart(n, 1, compiled, without)]
    finally:
        process.join()


def _send(sender: Any, first: int, count: int, compiled: bool, without: list[str]) -> None:
    sender.send(run(first, count, compiled, without))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=6000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--without", default="", help="primitives that are not drawn, such as te.bind,te.tile")
    options = parser.parse_args()
    import random_schedules as drawn

    without = options.without.split(",")
    total = drawn.Statistics()
    failed: dict[str, list[int]] = {}
    start = perf_counter()
    end = options.first + options.count
    chunks = [(n, min(CHUNK, end - n)) for n in range(options.first, end, CHUNK)]
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(run_apart, n, size, not options.no_compile, without) for n, size in chunks]
        for statistics, messages in (found for done in runs for found in done.result()):
            for field in fields(total):
                add_to(getattr(total, field.name), getattr(statistics, field.name))
            for message, seeds in messages.items():
                failed.setdefault(message, []).extend(seeds)
    lengths = sorted(total.lengths)
    accepted, draws = sum(total.accepted.values()), total.draws()
    refused, wrongly = sum(total.refused.values()), sum(total.wrongly.values())
    print(f"{options.count} schedules in {perf_counter() - start:.0f} s; median length {lengths[len(lengths) // 2]}")
    print(f"{draws} primitives drawn: {accepted} accepted, {sum(total.inapplicable.values())} cannot be done there,")
    print(f"{refused} rightly refused, {wrongly} wrongly refused ({wrongly / draws:.1%} of all draws, ", end="")
    print(f"{wrongly / max(refused + wrongly, 1):.1%} of the refusals for meaning)")
    print("accepted schedules with each primitive:")
    for name, count in sorted(total.schedules_with.items(), key=lambda item: item[1]):
        print(f"  {count:6d}  {name}")
    for title, counter in (
        ("wrongly refused", total.wrongly),
        ("rightly refused", total.refused),
        ("cannot be done", total.inapplicable),
        ("no machine code", total.uncompiled),
    ):
        show(title, counter)
    print(f"accepted and different: {sum(map(len, failed.values()))}")
    for message, seeds in sorted(failed.items(), key=lambda item: -len(item[1])):
        print(f"  {len(seeds):4d}  {message}  seeds {seeds[:5]}")
    sys.exit(1 if failed else 0)


def add_to(total: Counter[str] | list[int], more: Any) -> None:
    """Counts are added up, lists are put together."""
    if isinstance(total, Counter):
        total.update(more)
    else:
        total.extend(more)


def show(title: str, counter: Counter[str]) -> None:
    print(f"{title}: {sum(counter.values())}")
    for message, count in counter.most_common(25):
        print(f"  {count:6d}  {message[:170]}")


if __name__ == "__main__":
    main()
