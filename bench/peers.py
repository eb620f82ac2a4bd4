"""The engines that the benchmarks compare with, each under one face: a model and a number of threads, and `run`.

Runs are timed by rounds: each engine in turn rests, runs a few times untimed and then some times timed. The rest lets
the workers of the engine before it fall asleep: they spin for a while after their last job, on the processors that
the next one needs.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter, sleep
from typing import Any, Protocol

import numpy as np

from lamina.measure.timing import Benchmark, onnxruntime_session

Array = np.ndarray[Any, np.dtype[Any]]
Run = Callable[[Mapping[str, Array]], Sequence[Array]]

REST = 0.02
"""Seconds before each turn; onnxruntime's workers spin for about a millisecond, OpenVINO's for a few."""


class Peer(Protocol):
    """Makes a model ready to run on a number of threads; `run` gives the outputs in the model's order."""

    def __call__(self, model: str, threads: int) -> Run: ...


def onnxruntime(model: str, threads: int) -> Run:
    """All graph optimisations (ORT_ENABLE_ALL, the default), one session."""
    session = onnxruntime_session(model, threads)
    return lambda inputs: session.run(None, dict(inputs))


def openvino(model: str, threads: int) -> Run:
    """Float32 throughout, one stream, the latency hint, free to run on any processor as the others are."""
    # It may be absent, and its types with it.
    core: Any = importlib.import_module("openvino").Core()
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,
    }
    compiled = core.compile_model(core.read_model(model), "CPU", options)
    request = compiled.create_infer_request()

    def run(inputs: Mapping[str, Array]) -> Sequence[Array]:
        # The arrays are shared, as with the other two; the results are copied out of the request's buffers.
        results = request.infer(dict(inputs), share_inputs=True)
        return [results[port] for port in compiled.outputs]

    return run


PEERS: dict[str, Peer] = {"onnxruntime": onnxruntime, "openvino": openvino}


def installed_peers() -> list[str]:
    """The names of the peers that can be run here."""
    return [name for name in PEERS if importlib.util.find_spec(name) is not None]


def by_turns(
    runs: Mapping[str, Run],
    inputs: Mapping[str, Array],
    seconds: float,
    clock: Callable[[], float] = perf_counter,
    most: int = 200,
) -> dict[str, Benchmark]:
    """Time every engine, turn by turn, for about so many seconds in all and at least five rounds."""
    once = {name: _time(run, inputs, perf_counter) for name, run in runs.items()}
    turn = max(0.1, min(0.5, seconds / 10 / len(runs)))
    times: dict[str, list[float]] = {name: [] for name in runs}
    end = perf_counter() + seconds
    rounds = 0
    while (perf_counter() < end or rounds < 5) and min(map(len, times.values())) < most:
        rounds += 1
        for name, run in runs.items():
            sleep(REST)
            run(inputs)
            for _ in range(max(1, min(20, int(turn / once[name])))):
                times[name].append(_time(run, inputs, clock))
    return {name: Benchmark(tuple(t)) for name, t in times.items()}


def _time(run: Run, inputs: Mapping[str, Array], clock: Callable[[], float]) -> float:
    start = clock()
    run(inputs)
    return clock() - start
