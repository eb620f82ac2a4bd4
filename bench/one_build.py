"""One build of Lamina in a process of its own, that does what is asked of it on standard input; see `against.py`.

    PYTHONPATH=ROOT python -P bench/one_build.py

A question is a line of JSON with what to `do`, so is its answer; a question that fails is answered by `{"error": ...}`.

    {"do": "open", "model": PATH, "inputs": PATH.npz, "names": [...], "threads": 1, "opt_level": 3, "clock": "wall"}
        compile the model, for inputs of these names in the file's order     {"package": PATH of the build}
    {"do": "turn", "runs": 5}
        run it once untimed, then so many times                              {"seconds": [0.01, ...]}
    {"do": "outputs", "path": PATH.npz}
        write what it computes, in the order of the names                    {"names": [...]}

Only what every build has is used: `lamina.compile` and the executable's `run`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

CLOCKS: dict[str, Callable[[], float]] = {
    "wall": time.perf_counter,
    "thread": time.thread_time,
    "process": time.process_time,
}


class Build:
    """A model compiled by the build that this process imports."""

    def __init__(self) -> None:
        self._run: Callable[[], dict[str, Any]] | None = None
        self._clock = CLOCKS["wall"]

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        given = dict(question)
        return {"open": self.open, "turn": self.turn, "outputs": self.outputs}[given.pop("do")](**given)

    def open(
        self, model: str, inputs: str, names: list[str], threads: int, opt_level: int, clock: str
    ) -> dict[str, Any]:
        import lamina

        with np.load(inputs) as file:
            arrays = dict(zip(names, (file[n] for n in file.files), strict=True))
        exe = lamina.compile(model, threads=threads, opt_level=opt_level)
        self._run, self._clock = lambda: exe.run(arrays), CLOCKS[clock]
        return {"package": os.path.realpath(lamina.__file__)}

    def turn(self, runs: int) -> dict[str, Any]:
        run, clock = self._opened(), self._clock
        run()
        seconds: list[float] = []
        for _ in range(runs):
            start = clock()
            run()
            seconds.append(clock() - start)
        return {"seconds": seconds}

    def outputs(self, path: str) -> dict[str, Any]:
        found = self._opened()()
        np.savez(path, *found.values())
        return {"names": list(found)}

    def _opened(self) -> Callable[[], dict[str, Any]]:
        if self._run is None:
            raise RuntimeError("no model was opened")
        return self._run


def main() -> None:
    # What a build prints by itself must not be taken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    build = Build()
    for line in sys.stdin:
        try:
            answer = build.answer(json.loads(line))
        except Exception as error:  # whatever an old build raises
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
