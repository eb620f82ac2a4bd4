"""Steps of a language model: a session against onnxruntime, and against the program for that length alone.

    python bench/decode.py [--layers 12] [--lengths 1,17,128,509,960] [--threads 1] [--repeats 21] [--json FILE]
    python bench/decode.py --answer 1000 --prompts 200 [--layers 12] [--threads 1]

A model of GPT-2's dimensions with random weights. Of a length there are a step of one token in a session (state in
place), in a program that takes and gives the past as arrays, in the program for exactly that length, and in
onnxruntime with inputs and outputs bound, so that it copies neither. All run by turns in this process; a time is the
median of its turns, and a ratio the other's time over the session's: above 1 the session is faster.

`--answer` and `--prompts` run one session instead: so many steps of growing length, then prompts of random lengths,
each followed by a step, then as many steps at one length by turns with onnxruntime. Printed are what was compiled
meanwhile, how much the process has grown, and the spread of the steps.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any

import numpy as np
from model_set import processor_name

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))
from language_models import GPT2_SMALL, Dimensions, gpt

Step = Callable[[], Any]
PAUSE = 0.05
"""Seconds between turns: the workers of an engine spin for a while after their last job, on processors of the next."""


def by_turns(steps: dict[str, Step], repeats: int, pause: float = PAUSE) -> dict[str, float]:
    """Seconds of each, the median of turns, with so many seconds between turns."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(repeats + 2):
        for name, step in steps.items():
            start = perf_counter()
            step()
            times[name].append(perf_counter() - start)
            sleep(pause)
    return {name: median(t[2:]) for name, t in times.items()}


def bound(session: Any, states: dict[str, str], past: dict[str, Any], ids: Any) -> Step:
    """A step of onnxruntime whose past stays where it is."""
    import onnxruntime  # type: ignore[import-untyped]

    runtime: Any = onnxruntime
    binding = session.io_binding()
    binding.bind_cpu_input("ids", ids)
    for name, value in past.items():
        binding.bind_ortvalue_input(name, runtime.OrtValue.ortvalue_from_numpy(value))
    for output in ("logits", *states.values()):
        binding.bind_output(output)

    def step() -> Any:
        session.run_with_iobinding(binding)
        return binding.get_outputs()[0].numpy()

    return step


def in_session(exe: Any, past: dict[str, Any], ids: Any, capacity: int) -> Step:
    """A step of a session, which goes back to the same past each time without a copy."""
    session = exe.session(capacity=capacity)
    session.state = dict(past)
    session.run({"ids": ids})
    rows = next(iter(past.values())).shape[2]

    def step() -> Any:
        session.rewind(rows)
        return session.run({"ids": ids})["logits"]

    return step


def compared(model: Any, size: Dimensions, length: int, exe: Any, args: argparse.Namespace) -> dict[str, Any]:
    """Times of a length, and how far the session's results are from onnxruntime's."""
    import lamina
    from lamina.measure.timing import onnxruntime_session

    random = np.random.default_rng(length)
    rows = (1, size.heads, length, size.width)
    past = {name: random.standard_normal(rows).astype(np.float32) for name in size.states()}
    ids = random.integers(0, size.vocabulary, (1, 1))
    alone = lamina.compile(model, shapes={"batch": 1, "seq": 1, "past": length}, threads=args.threads, cache=False)
    runtime = onnxruntime_session(str(model), args.threads)
    steps: dict[str, Step] = {
        "session": in_session(exe, past, ids, size.context),
        "arrays": lambda: exe.run({"ids": ids, **past})["logits"],
        "alone": lambda: alone.run({"ids": ids, **past})["logits"],
        "onnxruntime": bound(runtime, size.states(), past, ids),
    }
    expected = steps["onnxruntime"]()
    difference = float(np.abs(steps["session"]() - expected).max() / np.abs(expected).max())
    return {"length": length, "difference": difference, **by_turns(steps, args.repeats)}


def answer(path: Path, size: Dimensions, args: argparse.Namespace) -> int:
    """A long answer, prompts of random lengths, and the spread of steps at a length. 1 where something is compiled."""
    import lamina
    from lamina.backends.cpu import compile_kernels
    from lamina.measure.timing import onnxruntime_session

    random: Any = np.random.default_rng(0)
    shapes: Any = {"batch": 1, "seq": "1..256", "past": f"0..{size.context - 1}"}
    start = perf_counter()
    exe = lamina.compile(path, shapes=shapes, threads=args.threads, cache=False, states=size.states())
    seconds = perf_counter() - start
    print(f"{processor_name()}, {args.threads} threads, {args.layers} layers; compiled in {seconds:.1f} s")
    compiled: list[str] = []
    submit = compile_kernels.KernelCompiler.submit

    def counted(self: Any, name: str, *rest: Any, **more: Any) -> Any:
        compiled.append(name)
        return submit(self, name, *rest, **more)

    compile_kernels.KernelCompiler.submit = counted
    session = exe.session(capacity=size.context)
    word = np.array([[1]])
    session.run({"ids": word})
    before, times = resident(), list[float]()
    for _ in range(min(args.answer, size.context - 1)):
        start = perf_counter()
        session.run({"ids": word})
        times.append(perf_counter() - start)
    cache, grown = 2 * 4 * size.layers * size.context * size.hidden, resident() - before
    first, last = (median(part) * 1e3 for part in (times[:10], times[-10:]))
    print(f"{len(times)} steps: the first ten {first:.1f} ms, the last ten {last:.1f} ms")
    print(f"the process grew by {grown / 1e6:.1f} MB, the cache has {cache / 1e6:.1f} MB")
    lengths: list[int] = random.integers(1, 257, args.prompts).tolist()
    for length in lengths:
        session.reset()
        session.run({"ids": random.integers(0, size.vocabulary, (1, length))})
        session.run({"ids": word})
    print(f"{args.prompts} prompts of 1 to 256 tokens: {len(compiled)} kernels compiled in all")
    past = {n: random.standard_normal((1, size.heads, 256, size.width)).astype(np.float32) for n in size.states()}
    ours = in_session(exe, past, word, size.context)
    theirs = bound(onnxruntime_session(str(path), args.threads), size.states(), past, word)
    spread: dict[str, list[float]] = {"session": [], "onnxruntime": []}
    for _ in range(args.answer):
        for name, step in (("session", ours), ("onnxruntime", theirs)):
            start = perf_counter()
            step()
            spread[name].append(perf_counter() - start)
    for name, taken in spread.items():
        half, most = np.percentile(taken, [50, 99])
        print(f"{name} at a past of 256: median {half * 1e3:.1f} ms, 99 of 100 within {most / half:.2f} times that")
    return 1 if compiled else 0


def resident() -> int:
    """Bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=GPT2_SMALL.layers)
    parser.add_argument("--lengths", default="1,17,128,509,960")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--answer", type=int, default=0, help="steps")
    parser.add_argument("--prompts", type=int, default=200)
    args = parser.parse_args(words)

    import lamina

    size = Dimensions(args.layers, GPT2_SMALL.heads, GPT2_SMALL.width, GPT2_SMALL.vocabulary, GPT2_SMALL.context)
    path = Path("build") / f"gpt-{args.layers}.onnx"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gpt(size).SerializeToString())
    if args.answer:
        return answer(path, size, args)
    shapes: Any = {"batch": 1, "seq": 1, "past": f"0..{size.context - 1}"}
    start = perf_counter()
    exe = lamina.compile(path, shapes=shapes, threads=args.threads, cache=False, states=size.states())
    print(
        f"{processor_name()}, {args.threads} threads, {args.layers} layers; compiled in {perf_counter() - start:.1f} s"
    )
    print(f"{'past':>6}{'session':>10}{'arrays':>8}{'alone':>8}{'onnxruntime':>13}{'difference':>12}")
    rows: list[dict[str, Any]] = []
    for length in map(int, args.lengths.split(",")):
        row = compared(path, size, length, exe, args)
        rows.append(row)
        mine = row["session"]
        ratios = f"{row['arrays'] / mine:>8.2f}{row['alone'] / mine:>8.2f}{row['onnxruntime'] / mine:>13.2f}"
        print(f"{length:>6}{mine * 1e3:>7.2f} ms{ratios}{row['difference']:>12.1e}", flush=True)
    if args.json is not None:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
