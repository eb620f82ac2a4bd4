"""Runs cases in worker processes: one that dies or does not come to an end costs its case alone."""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, cast

from tools.conformance.cases import Case, read_model

VERDICTS = ("passed", "unsupported", "wrong", "error", "crashed", "hung")
MOST_MEMORY = 24 << 30


@dataclass(frozen=True)
class Outcome:
    """The verdict on a case, the reason, and the seconds it took. An `error` is a failure that is no clean refusal."""

    verdict: str
    message: str = ""
    seconds: float = 0.0


def run_case(case: Case, opt_level: int) -> Outcome:
    """Run a case in this process."""
    from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

    from lamina.compat.onnx_backend import LaminaBackend

    start = perf_counter()

    def outcome(verdict: str, error: BaseException | str = "") -> Outcome:
        return Outcome(verdict, " ".join(str(error).split())[:400], round(perf_counter() - start, 3))

    try:
        model = case.model
        if model is None:
            assert case.path is not None
            model = read_model(case.path)
        prepared = LaminaBackend.prepare(model, opt_level=opt_level)
        results: list[list[Any]] = [list(prepared.run(inputs)) for inputs, _ in case.sets]
    except BackendIsNotSupposedToImplementIt as e:
        return outcome("unsupported", e)
    except Exception as e:
        return outcome("error", f"{type(e).__name__}: {e}")
    try:
        for result, (_, expected) in zip(results, case.sets, strict=True):
            compare(expected, result, case)
    except Exception as e:
        return outcome("wrong", e)
    return outcome("passed")


def compare(expected: Any, result: Any, case: Case) -> None:
    """Raise AssertionError where outputs differ by the runner's own measure; sequences element by element."""
    from onnx.backend.test.runner import Runner

    if not isinstance(expected, list):
        Runner.assert_similar_outputs([expected], [result], case.rtol, case.atol)
        return
    ones, others = cast("list[Any]", expected), cast("list[Any]", result)
    if not isinstance(result, list) or len(others) != len(ones):
        raise AssertionError(f"{len(ones)} outputs or elements expected, got {result!r:.80}")
    for one, other in zip(ones, others, strict=True):
        if one is None or other is None:
            if one is not other:
                raise AssertionError("an optional value is missing on one side")
        else:
            compare(one, other, case)


def load_compiler(opt_level: int) -> None:
    """Import what most cases need, so that it is there in each copy of this process: a worker would take a second."""
    from lamina.dialects.lazy_formats import read_formats_late
    from lamina.driver.pipelines import LEVELS, Pipeline
    from lamina.frontends.onnx.registry import converters

    read_formats_late()
    converters()
    for name in ("compat.onnx_backend", "driver.api", "driver.compilation", "driver.lowering_here", "backends.cpu.jit"):
        import_module(f"lamina.{name}")
    pipeline = Pipeline(opt_level)
    for level in LEVELS[1:]:
        pipeline.passes(level)


def _serve(pipe: Any, cases: Sequence[Case], opt_level: int, folder: str) -> None:
    os.nice(10)
    os.environ["LAMINA_REPRODUCER_DIR"] = folder
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    while True:
        index: int = pipe.recv()
        pipe.send(run_case(cases[index], opt_level))


class _Worker:
    def __init__(self, cases: Sequence[Case], opt_level: int, folder: Path) -> None:
        context = multiprocessing.get_context("fork")  # the cases take seconds to load
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, cases, opt_level, str(folder)), daemon=True)
        self.process.start()
        other.close()
        self.index = -1
        self.deadline = 0.0

    def give(self, index: int, timeout: float) -> None:
        self.index, self.deadline = index, monotonic() + timeout
        self.pipe.send(index)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_cases(
    cases: Sequence[Case], jobs: int, timeout: float, opt_level: int, folder: Path
) -> Iterator[tuple[Case, Outcome]]:
    """The outcomes as they come. A worker that dies is a crash of its case, one out of time a case that hangs."""
    folder.mkdir(parents=True, exist_ok=True)
    load_compiler(opt_level)
    pending = deque(range(len(cases)))
    workers = [_Worker(cases, opt_level, folder) for _ in range(min(jobs, len(cases)))]
    idle, busy = list(workers), list[_Worker]()
    try:
        while pending or busy:
            while pending and idle:
                worker = idle.pop()
                worker.give(pending.popleft(), timeout)
                busy.append(worker)
            ready = wait([w.pipe for w in busy], max(0.0, min(w.deadline for w in busy) - monotonic()))
            for worker in [w for w in busy if w.pipe in ready or monotonic() > w.deadline]:
                busy.remove(worker)
                outcome = _answer(worker, timeout)
                if outcome.verdict in ("crashed", "hung"):
                    worker.stop()
                    workers.remove(worker)
                    case = worker.index
                    worker = _Worker(cases, opt_level, folder)
                    worker.index = case
                    workers.append(worker)
                idle.append(worker)
                yield cases[worker.index], outcome
    finally:
        for worker in workers:
            worker.stop()


def _answer(worker: _Worker, timeout: float) -> Outcome:
    if not worker.pipe.poll():
        return Outcome("hung", f"no end after {timeout:g} s", timeout)
    try:
        return worker.pipe.recv()
    except (EOFError, ConnectionResetError):
        worker.process.join()
        return Outcome("crashed", f"the process ended with {worker.process.exitcode}")
