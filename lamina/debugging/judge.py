"""Asks what becomes of programs, each in a process of its own, and remembers the answers."""

from __future__ import annotations

import atexit
import os
import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from lamina.debugging.fuel import firings_of
from lamina.debugging.isolate import Server
from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.program import Program
from lamina.debugging.stored_case import savable
from lamina.debugging.verdict import CANDIDATE, FIRINGS, How, Verdict

Tell = Callable[[str], object]
"""Hears what is going on, line by line."""
WARM = "lamina.debugging.verdict:warm"
JUDGED = "lamina.debugging.verdict:judged"
LEAST_SECONDS = 2.0
"""Time that a program gets in any case before it counts as hanging."""
PATIENCE = 4.0
"""So many times what the slowest of the last programs has taken that came to an end."""
LAST = 8


def silent(line: str) -> None:
    """Hears nothing."""


class _WarmServer(Server):
    """A server of verdicts. One judge after another takes it: to start one takes as long as many programs."""

    def __init__(self) -> None:
        # What a program has done wrong is in its verdict: no reproducer is written.
        super().__init__([WARM], environment={"LAMINA_REPRODUCER_DIR": os.devnull, "LAMINA_PROGRESS": "off"})
        self.settings = _settings()


def _settings() -> dict[str, str]:
    """The variables that a server may have read when it started; all others come with each call."""
    return {n: v for n, v in os.environ.items() if n.startswith(("LAMINA_", "PYTHON"))}


_idle: list[_WarmServer] = []
"""Servers without a judge."""
# A copy of this process would talk to the same ones.
os.register_at_fork(after_in_child=_idle.clear)


def _taken() -> _WarmServer:
    """A server with the settings of this moment. Idle ones that have others are closed."""
    while _idle:
        server = _idle.pop()
        if server.settings == _settings():
            return server
        server.close()
    return _WarmServer()


@atexit.register
def _close_idle() -> None:
    while _idle:
        _idle.pop().close()


class Judge:
    """A warm process and the verdicts of its copies, by the text of the program and how it was run."""

    def __init__(self, seconds: float = 30.0, deadline: float | None = None) -> None:
        """`seconds` is the limit for a program until something is known of how long they take.

        After `deadline`, a time of `monotonic`, nothing is asked any more: every program is a refusal.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="lamina-judge-")
        self.folder = Path(self._folder.name)
        self._server = _taken()
        self._server.start()
        self._verdicts: dict[tuple[Any, ...], Verdict] = {}
        self._files: dict[int, tuple[str, str, Any]] = {}
        self.seconds = seconds
        self.deadline = deadline
        self._took: deque[float] = deque(maxlen=LAST)
        self.asked = 0

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        _idle.append(self._server)
        self._folder.cleanup()

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.deadline is not None and monotonic() >= self.deadline

    def ask(self, program: Program, how: How) -> Verdict:
        """The verdict on a program. The same text on the same inputs is asked once for each way to run it."""
        text = program.text()
        inputs = tuple(map(id, program.arrays.values()))
        key = sha256(text.encode()).hexdigest(), how, inputs
        found = self._verdicts.get(key)
        if found is not None:
            return found
        if self.over:
            return Verdict(Outcome(Kind.REFUSAL, "the time is up", CANDIDATE))
        known = sha256(repr((program.computes or text, inputs)).encode()).hexdigest()
        store, params = program.store, program.params()
        arguments = {
            "text": text,
            "arrays": {name: self.stored(a) for name, a in program.arrays.items()},
            "params": {f"{p.key.data}\0{p.digest.data}": self.stored(store.get(p)) for p in params},
            "how": how.json(),
            "known": str(self.folder / f"{known}.npz"),
        }
        found = self._verdicts[key] = self.call(JUDGED, arguments)
        return found

    def call(self, function: str, arguments: Mapping[str, Any]) -> Verdict:
        """The verdict that a function of `verdict.py` gives as JSON, called with a file `trace` besides."""
        trace = self.folder / "steps"
        firings = Path(f"{trace}{FIRINGS}")
        for file in (trace, firings):
            file.unlink(missing_ok=True)
        self.asked += 1
        start = monotonic()
        answer = self._server.call(function, {**arguments, "trace": str(trace)}, self.limit)
        if not isinstance(answer, Outcome):
            self._took.append(monotonic() - start)
            return Verdict.of_json(answer)
        steps = trace.read_text().splitlines() if trace.is_file() else []
        step = steps[-1] if steps else ""
        if answer.kind is Kind.INTERNAL_ERROR or step == CANDIDATE:
            # An oracle or the interpreter, or too little memory for what is compared.
            return Verdict(Outcome(Kind.REFUSAL, answer.said, CANDIDATE))
        fired = firings_of(firings.read_text()) if firings.is_file() else []
        return Verdict(Outcome(answer.kind, answer.said, step), fired=tuple(fired))

    @property
    def limit(self) -> float:
        """Seconds that a program may take: some times what the slowest of the last ones has taken that ended."""
        return min(self.seconds, max(LEAST_SECONDS, PATIENCE * max(self._took))) if self._took else self.seconds

    def stored(self, array: Any) -> list[str]:
        """The file of an array and its dtype; written once for each array."""
        known = self._files.get(id(array))
        if known is None:
            values = np.asarray(array)
            path = self.folder / f"{len(self._files)}.npy"
            np.save(path, savable(values), allow_pickle=False)
            # The array is kept, so that its id stays its own.
            known = self._files[id(array)] = (str(path), str(values.dtype), array)
        return [known[0], known[1]]
