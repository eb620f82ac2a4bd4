"""Text of a language model, token by token: one program for the prompt and for each step, whose state stays in place.

    python examples/generate.py                                     a small model of random weights
    python examples/generate.py gpt2.onnx --prompt 464,3290 --state past_k0=present_k0 --state past_v0=present_v0 ...
    python examples/generate.py --top-k 40 --temperature 0.8 --seed 7

A model takes `ids` [batch, seq] and states, and gives `logits` [batch, seq, vocabulary] and the states behind it. The
program draws the next id itself (`lamina.transform.SampleToken`). Words and ids are not its business: they are a
tokenizer's.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import lamina
from lamina import transform

TESTS = Path(__file__).resolve().parents[1] / "test"
"""The folder that has the model of random weights."""


def ids_of(text: str) -> list[int]:
    """Ids that stand one after the other, parted by commas."""
    return [int(i) for i in text.split(",")]


def pair_of(text: str) -> tuple[str, str]:
    """An input, and the output that goes to it."""
    name, mark, output = text.partition("=")
    if not mark or not name or not output:
        raise argparse.ArgumentTypeError("it is INPUT=OUTPUT")
    return name, output


def generated(session: Any, prompt: list[int], args: argparse.Namespace) -> tuple[list[int], float, list[float]]:
    """The ids behind a prompt, the seconds of the prompt, and of each step."""
    found, times = list[int](), list[float]()
    given = np.array([prompt], np.int64)
    for _ in range(args.count):
        start = perf_counter()
        given = session.run({"ids": given})["token"]
        times.append(perf_counter() - start)
        found.append(int(given[0, 0]))
    return found, times[0], times[1:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", help="an ONNX model (default: a small one of random weights)")
    parser.add_argument("--state", action="append", default=[], type=pair_of, metavar="INPUT=OUTPUT")
    parser.add_argument("--prompt", default="1,2,3", type=ids_of, metavar="ID,ID,..")
    parser.add_argument("--count", type=int, default=32, help="ids to generate (default: 32)")
    parser.add_argument("--context", type=int, default=256, help="the most rows that a state has (default: 256)")
    parser.add_argument("--top-k", type=int, default=1, help="draw among so many ids (default: 1, the most likely)")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()

    prompt: list[int] = args.prompt
    if len(prompt) + args.count > args.context or args.count < 2 or args.top_k < 1:
        parser.error("the prompt and what is generated have to fit the context; --count is at least 2, --top-k 1")
    if args.temperature <= 0 or args.seed < 0:
        parser.error("--temperature is above 0, --seed from 0 on")
    if args.model and not args.state:
        parser.error("a model needs its states: --state past_k0=present_k0 ...")
    try:
        return run(args, prompt)
    except lamina.LaminaError as e:
        parser.exit(1, f"error: {e}\n")


def run(args: argparse.Namespace, prompt: list[int]) -> int:
    """Compile the model, and let it go on from the prompt. Raises LaminaError."""
    model, states = args.model, dict(args.state)
    if model is None:
        sys.path.insert(0, str(TESTS))
        from language_models import Dimensions, llama

        size = Dimensions(layers=2, shared_by=2, context=args.context)
        model, states = llama(size), size.states()
    sample = transform.SampleToken(top_k=args.top_k, temperature=args.temperature, seed=args.seed)
    start = perf_counter()
    loaded = lamina.load(model, {"batch": 1, "seq": "?", "past": "?"}, states=states)
    exe = lamina.compile(sample(loaded), threads=args.threads)
    print(f"compiled in {perf_counter() - start:.1f} s: {len(states)} states")
    session = exe.session(capacity=args.context)
    found, first, steps = generated(session, prompt, args)
    print("ids:", *found)
    print(f"prompt of {len(prompt)}: {first * 1e3:.2f} ms; a step: {np.median(steps) * 1e3:.3f} ms in the median")
    return 0


if __name__ == "__main__":
    sys.exit(main())
