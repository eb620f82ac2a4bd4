"""Two builds of Lamina against each other: what a change costs, as a ratio with its interval.

`bench/models.py --against COMMIT` compares the files of the checkout as they are, the new build, with those of a
commit, the old one, copied to a temporary folder. Both run in this environment's Python with the packages that it has.
Each build has a cache of its own and processes of its own (`one_build.py`), which get the same model and inputs.

A model is measured by several pairs of processes, one of each build: where memory comes to lie differs from process to
process, and with it the time of a kernel by some per cent, so that more runs of one pair would only tell more about
that pair. A program from a cache lies where the pages of its file do, in every process: each pair has a copy of the
cache, whose pages are others. The two of a pair take turns within a second, the first turn going to one and the other;
a turn is some runs after one that is not timed, its time their median. The logarithm of old over new of each two turns
is taken, and of a pair of processes the median of these. The ratio of a model is their mean over the pairs, with
Student's 95 % interval: above 1 the new build is faster. The ratio of all models is the geometric mean, with the
interval that follows from the models' variances (degrees of freedom by Welch and Satterthwaite).
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import fmean, median, variance
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np
from peers import REST

ROOT = Path(__file__).resolve().parents[1]
PAIRS = 5
ROUNDS = 4
"""Of a pair of processes, at least."""
# Student's 97.5 % quantiles for 1, 2, ... degrees of freedom; between them and beyond, those of fewer count.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
_STUDENT_FAR = {20: 2.086, 30: 2.042, 60: 2.000, 120: 1.980}


class BuildError(Exception):
    """A build that does not do what it is asked, or a commit that is not there."""


class Ratio(NamedTuple):
    """Old over new, and the bounds of its 95 % interval."""

    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.ratio:.3f} [{self.low:.3f} .. {self.high:.3f}]"


def student(freedom: float) -> float:
    """The half width of a 95 % interval in standard errors."""
    if freedom < len(_STUDENT) + 1:
        return _STUDENT[max(int(freedom), 1) - 1]
    return next((q for n, q in sorted(_STUDENT_FAR.items(), reverse=True) if n <= freedom), _STUDENT[-1])


def ratio_of(logs: Sequence[float]) -> Ratio:
    """The ratio of one model from the logarithms of its pairs of processes."""
    return mean_ratio([logs])


def mean_ratio(models: Sequence[Sequence[float]]) -> Ratio:
    """The geometric mean of the models' ratios: of each, the logarithms of its pairs of processes, two at least."""
    centre = fmean(fmean(logs) for logs in models)
    # Of each model's mean, as it counts in the mean of all.
    parts = [variance(logs) / len(logs) / len(models) ** 2 for logs in models]
    error = sum(parts)
    known = sum(part**2 / (len(logs) - 1) for part, logs in zip(parts, models, strict=True))
    width = student(error**2 / known) * math.sqrt(error) if known else 0.0
    return Ratio(*(math.exp(centre + sign * width) for sign in (0, -1, 1)))


@contextmanager
def files_of(commit: str) -> Generator[Path]:
    """A folder with the files of a commit while it lasts. Raises BuildError where there is no such commit."""
    git = ["git", "-C", str(ROOT)]
    found = subprocess.run(
        [*git, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], capture_output=True, text=True, check=False
    )
    if found.returncode:
        raise BuildError(f"no commit {commit!r} in {ROOT}")
    with TemporaryDirectory(prefix="lamina-old-") as folder:
        packed = subprocess.Popen([*git, "archive", "--format=tar", found.stdout.strip()], stdout=subprocess.PIPE)
        with packed, tarfile.open(fileobj=packed.stdout, mode="r|") as archive:
            # Python 3.11 knows filters from 3.11.4 on, and what git has packed needs none.
            if hasattr(tarfile, "data_filter"):
                archive.extractall(folder, filter="data")
            else:
                archive.extractall(folder)
        if packed.returncode:
            raise BuildError(f"git archive ends with status {packed.returncode}")
        yield Path(folder)


class OneBuild:
    """A process with one build of Lamina."""

    def __init__(self, root: Path, cache: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(root), "LAMINA_CACHE": "on"}
        environment |= {"LAMINA_CACHE_DIR": f"{cache}/lamina", "PYTHONPYCACHEPREFIX": f"{cache}/bytecode"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        cache.mkdir(exist_ok=True)
        # -P: nothing beside the script is to be imported, the package above all.
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("one_build.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def ask(self, do: str, **given: Any) -> dict[str, Any]:
        """The answer to a question. Raises BuildError where there is none, or an error."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            print(json.dumps({"do": do, **given}), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        answer: dict[str, Any] = json.loads(line) if line else {"error": f"it ended with {self._process.wait()}"}
        if "error" in answer:
            raise BuildError(answer["error"])
        return answer

    def __enter__(self) -> OneBuild:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Opening(NamedTuple):
    """The arguments that open a model, for both builds alike."""

    model: str
    inputs: str
    """A file of arrays, in the order of the names."""
    names: Sequence[str]
    threads: int = 1
    opt_level: int = 3
    clock: str = "wall"


def compared(builds: dict[str, Path], opening: Opening, folder: Path, seconds: float, pairs: int) -> dict[str, Any]:
    """The builds `old` and `new` on one model: `logs` of the pairs of processes, `old` and `new` in seconds (medians),
    how many `rounds` of turns these are of, and the largest `difference` of any output relative to its largest value.

    `folder` keeps the caches. Raises BuildError.
    """
    folder.mkdir(exist_ok=True)
    logs: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in builds}
    last: dict[str, Path] = {}
    difference = 0.0
    for pair in range(pairs):
        with ExitStack() as stack:
            running: dict[str, OneBuild] = {}
            for name, root in builds.items():
                cache = folder / f"{name}-{pair}"
                if pair:
                    shutil.copytree(last[name], cache)
                    shutil.rmtree(last[name])
                last[name] = cache
                build = running[name] = stack.enter_context(OneBuild(root, cache))
                try:
                    used = build.ask("open", **opening._asdict())["package"]
                except BuildError as error:
                    raise BuildError(f"the {name} build: {error}") from None
                if not Path(used).is_relative_to(root.resolve()):
                    raise BuildError(f"the {name} build is {used}, not the one in {root}")
            if pair == 0:
                difference = _difference(running, folder)
            found = _turns(running, seconds / pairs, first=pair)
        logs.append(median(math.log(old / new) for old, new in zip(found["old"], found["new"], strict=True)))
        for name in times:
            times[name] += found[name]
    medians = {name: median(t) for name, t in times.items()}
    return {"logs": logs, **medians, "rounds": len(times["new"]), "difference": difference}


def _turns(running: dict[str, OneBuild], seconds: float, first: int) -> dict[str, list[float]]:
    """The medians of the turns that the builds take for so many seconds in all."""
    once = max(build.ask("turn", runs=1)["seconds"][0] for build in running.values())
    turn = max(0.05, min(0.5, seconds / 2 / ROUNDS))
    runs = max(1, min(50, int(turn / max(once, 1e-6))))
    found: dict[str, list[float]] = {name: [] for name in running}
    end, rounds = perf_counter() + seconds, 0
    while rounds < ROUNDS or perf_counter() < end:
        names = list(running) if (first + rounds) % 2 else list(running)[::-1]
        for name in names:
            sleep(REST)
            found[name].append(median(running[name].ask("turn", runs=runs)["seconds"]))
        rounds += 1
    return found


def _difference(running: dict[str, OneBuild], folder: Path) -> float:
    from lamina.measure.timing import largest_difference

    outputs: list[dict[str, Any]] = []
    for name, build in running.items():
        path = folder / f"{name}.npz"
        names = build.ask("outputs", path=str(path))["names"]
        with np.load(path) as file:
            outputs.append(dict(zip(names, (file[n] for n in file.files), strict=True)))
    old, new = outputs
    if old.keys() != new.keys():
        raise BuildError(f"the outputs are {', '.join(old)} in the old build, {', '.join(new)} in the new one")
    return max((largest_difference(new[name], old[name]) for name in old), default=0.0)
