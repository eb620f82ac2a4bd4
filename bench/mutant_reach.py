"""Record of the functions that each test reaches: made once, so that a fault meets the tests that can see it first.

    python -m pytest -p mutant_reach --reach=FOLDER test/unit     (with bench/ on PYTHONPATH)
    python bench/mutant_reach.py FOLDER                           (the lit tests, then all into FOLDER/reach.json)

Python 3.12 or newer tells of the first run of each function at hardly any cost (PEP 669, sys.monitoring); an older one
tells of every call, which takes two to three times as long. Processes that a test forks write what they reach
themselves, and so do commands that it starts, where the folder `mutant_reach_site` is on PYTHONPATH and LAMINA_REACH
names the folder of the recording.
"""

# lit has no types, and sys.monitoring none in the oldest Python that the project supports.
# pyright: basic, reportMissingTypeStubs=false

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ROOMS = tuple(str(ROOT / room) + os.sep for room in ("lamina", "dialects", "passes", "frontends", "backends"))
SITE = Path(__file__).with_name("mutant_reach_site")
FOLDER, TEST = "LAMINA_REACH", "LAMINA_REACH_TEST"
"""Environment variables of the commands that tests start: where they write, and for which test."""
_INNER = re.compile(r"\.<locals>|\.?<[a-z]+>")


class Recorder:
    """The functions of the project that run while a test does, a line of JSON each test."""

    def __init__(self, folder: Path, test: str = "") -> None:
        """With a test, this process is a command that the test has started."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._test = test
        self._seen: set[str] = set()
        self._files: dict[str, str] = {}
        self._is_child = bool(test)
        self._open()
        self._monitoring: Any = getattr(sys, "monitoring", None)
        if self._monitoring is None:
            self._known: set[Any] = set()
            threading.setprofile(self._called)
            sys.setprofile(self._called)
        else:
            tool, start = self._monitoring.COVERAGE_ID, self._monitoring.events.PY_START
            self._monitoring.use_tool_id(tool, "reach")
            self._monitoring.register_callback(tool, start, self._started)
            self._monitoring.set_events(tool, start)
        os.register_at_fork(after_in_child=self._forked)

    def _open(self) -> None:
        self._out = os.open(self._folder / f"{os.getpid()}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def _forked(self) -> None:
        self._is_child = True

    def _file(self, name: str) -> str:
        if name not in self._files:
            real = os.path.realpath(name)
            self._files[name] = os.path.relpath(real, ROOT) if real.startswith(ROOMS) else ""
        return self._files[name]

    def _called(self, frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code not in self._known:
            self._known.add(frame.f_code)
            self._reach(frame.f_code)

    def _started(self, code: Any, _: int) -> Any:
        self._reach(code)
        return self._monitoring.DISABLE

    def _reach(self, code: Any) -> None:
        file = self._file(code.co_filename)
        if file and self._test:
            place = f"{file}:{_INNER.sub('', code.co_qualname) or 'module'}"
            if place not in self._seen:
                self._seen.add(place)
                if self._is_child:  # it may end at any moment
                    self._write({"test": self._test, "reached": [place]})

    def _write(self, row: dict[str, Any]) -> None:
        os.write(self._out, json.dumps(row).encode() + b"\n")

    @contextmanager
    def of(self, test: str) -> Iterator[None]:
        """Attribute what runs inside to a test."""
        self._test, self._seen = test, set()
        os.environ[TEST] = test
        if self._monitoring is None:
            self._known.clear()
        else:
            self._monitoring.restart_events()
        start = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - start
            self._write({"test": test, "seconds": round(seconds, 4), "reached": sorted(self._seen)})
            self._test = ""
            del os.environ[TEST]


# -- pytest --------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--reach", default=None, help="folder to write into what each test reaches")


def pytest_configure(config: Any) -> None:
    folder = config.getoption("--reach")
    is_leader = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if folder and not is_leader:
        config.pluginmanager.register(_Plugin(Recorder(Path(folder))))


class _Plugin:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Any:
        from _pytest.runner import runtestprotocol

        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        with self._recorder.of(item.nodeid):
            runtestprotocol(item, nextitem=nextitem)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


# -- lit -----------------------------------------------------------------------------------------------------------


def record_lit(folder: Path) -> None:
    """Run all lit tests in this process, one after the other."""
    import lit.discovery
    import lit.LitConfig

    config = lit.LitConfig.LitConfig(
        "lit",
        path=[],
        diagnostic_level="error",
        useValgrind=False,
        valgrindLeakCheck=False,
        valgrindArgs=[],
        noExecute=False,
        debug=False,
        isWindows=False,
        order="lexical",
        params={},
    )
    recorder = Recorder(folder)
    for test in lit.discovery.find_tests_for_inputs(config, [str(ROOT / "test")]):
        with recorder.of(os.path.relpath(test.getSourcePath(), ROOT)):
            # lit keeps most of the environment from the commands of tests.
            handed = {name: os.environ[name] for name in (FOLDER, TEST) if name in os.environ}
            test.config.environment.update(handed)
            test.config.test_format.execute(test, config)


# -- what was recorded ---------------------------------------------------------------------------------------------


UNKNOWN_SECONDS = 2.0
"""Seconds that a test takes of which nothing is recorded."""


class Reach:
    """The tests by the functions that they reach."""

    def __init__(self, tests: list[str], seconds: list[float], reached: dict[str, int]) -> None:
        self.tests = tests
        self.seconds = seconds
        self.reached = reached
        """`file:function`: the tests, a bit each."""
        self.newer: list[str] = []
        """Tests of which nothing is recorded."""

    @staticmethod
    def gathered(folder: Path) -> Reach:
        """Read and join the files that the processes of a recording wrote."""
        numbers: dict[str, int] = {}
        seconds: list[float] = []
        reached: dict[str, int] = {}
        for file in sorted(folder.glob("*.jsonl")):
            for line in file.read_text().splitlines():
                row = json.loads(line)
                n = numbers.setdefault(row["test"], len(numbers))
                seconds += [0.0] * (n + 1 - len(seconds))
                seconds[n] = max(seconds[n], row.get("seconds", 0.0))
                for place in row["reached"]:
                    reached[place] = reached.get(place, 0) | 1 << n
        return Reach(list(numbers), seconds, reached)

    @staticmethod
    def read(file: Path) -> Reach:
        """Read a file that `write` wrote."""
        data = json.loads(file.read_text())
        return Reach(data["tests"], data["seconds"], {k: int(v, 16) for k, v in data["reached"].items()})

    def write(self, file: Path) -> None:
        masks = {k: f"{v:x}" for k, v in sorted(self.reached.items())}
        file.write_text(json.dumps({"tests": self.tests, "seconds": self.seconds, "reached": masks}))

    def keep(self, present: Collection[str]) -> int:
        """Forget the tests that are there no more, and take newer ones for such that reach every function. Returns how
        many there are of either."""
        gone = [n for n, test in enumerate(self.tests) if test not in present]
        mask = sum(1 << n for n in gone)
        self.newer = sorted(set(present) - set(self.tests))
        self.reached = {place: tests & ~mask for place, tests in self.reached.items()}
        return len(gone) + len(self.newer)

    def times(self) -> dict[str, float]:
        """Seconds that each test takes."""
        return dict(zip(self.tests, self.seconds, strict=True)) | dict.fromkeys(self.newer, UNKNOWN_SECONDS)

    def of(self, file: str, function: str) -> list[str]:
        """The tests that reach a function, those that are quick and reach little else first; then newer ones.

        Of code outside of functions: the tests that reach any function of the file.
        """
        mask = self.reached.get(f"{file}:{function}", 0)
        if not mask:
            for place, tests in self.reached.items():
                if place.startswith(file + ":"):
                    mask |= tests
        sizes = self._sizes()
        found = [n for n in range(len(self.tests)) if mask >> n & 1]
        found.sort(key=lambda n: (self.seconds[n] + 0.01) * sizes[n])
        return [*(self.tests[n] for n in found), *self.newer]

    def _sizes(self) -> list[int]:
        if not hasattr(self, "_counted"):
            counts = [0] * len(self.tests)
            for mask in self.reached.values():
                while mask:
                    low = mask & -mask
                    counts[low.bit_length() - 1] += 1
                    mask ^= low
            self._counted = counts
        return self._counted


if __name__ == "__main__":
    target = Path(sys.argv[1])
    record_lit(target)
    Reach.gathered(target).write(target / "reach.json")
