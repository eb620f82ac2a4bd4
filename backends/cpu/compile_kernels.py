"""Many kernels to objects: from the cache where it has them, else in parallel worker processes.

    with KernelCompiler(target, workers=2, cache=cache) as compiler:
        for name, text in emit_kernels(module):
            compiler.submit(name, text)         # workers compile while the next text is emitted
        objects = compiler.result()

A worker is a process, so a text that makes LLVM abort ends the worker and not us; the error names the kernel.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, cast

from lamina.backends.cpu.compile_worker import SEPARATOR, receive, send
from lamina.backends.cpu.jit import CompileError, Machine, compile_object, machine_of
from lamina.backends.cpu.object_cache import ObjectCache, object_key
from lamina.backends.cpu.processors import available_threads
from lamina.errors import InternalError

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

_WORKER = "lamina.backends.cpu.compile_worker"
_SERIAL_BYTES = 60_000
"""Below so much text a worker's start costs more than it saves, and the parent compiles by itself."""


def default_workers() -> int:
    """The processors that this process may use, 16 at most."""
    return min(available_threads(), 16)


def compile_cached(name: str, text: str, target: TargetAttr | Machine, cache: ObjectCache | None) -> bytes:
    """The object of one text, from the cache where it has it. Raises InternalError where LLVM refuses the text."""
    machine = machine_of(target)
    key = object_key(text, machine) if cache is not None else ""
    found = cache.get(key) if cache is not None else None
    if found is None:
        found = _compiled(name, text, machine)
        if cache is not None:
            cache.put(key, found)
    return found


def _compiled(name: str, text: str, machine: Machine) -> bytes:
    try:
        return compile_object(text, machine)
    except CompileError as error:
        raise InternalError(f"kernel '{name}': {error}") from error


class _Worker:
    """One process and the thread that feeds it."""

    def __init__(self, machine: Machine) -> None:
        # -E and -P: neither the environment nor the current folder decide what the worker imports.
        paths = os.pathsep.join(p for p in sys.path if p)
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-c", _BOOT, paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.source: IO[bytes] = self.process.stdout
        self.sink: IO[bytes] = self.process.stdin
        self._say(b"m", SEPARATOR.join(machine).encode())

    def _say(self, kind: bytes, data: bytes) -> None:
        try:
            send(cast(Any, self.sink), kind, data)
        except OSError:
            pass  # the worker is gone; the missing answer tells why

    def compile(self, name: str, text: str) -> bytes:
        self._say(b"t", text.encode())
        answer = receive(cast(Any, self.source))
        if answer is None:
            raise InternalError(f"LLVM died on kernel '{name}': {self._last_words()}")
        kind, data = answer
        if kind == b"e":
            raise InternalError(f"kernel '{name}': {data.decode()}")
        return data

    def _last_words(self) -> str:
        self.close()
        assert self.process.stderr is not None
        lines = self.process.stderr.read().decode(errors="replace").splitlines()
        shown = [line for line in lines if line.strip() and not line.startswith(" #")]
        status = self.process.returncode
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"{how}, {shown[0].strip() if shown else 'no message'}"

    def close(self) -> None:
        for stream in (self.sink, self.source):
            try:
                stream.close()
            except OSError:
                pass
        self.process.wait()


_BOOT = f"import sys; sys.path[:] = sys.argv.pop().split({os.pathsep!r}); from {_WORKER} import main; sys.exit(main())"


class KernelCompiler:
    """Takes texts as they come and gives all objects at the end."""

    def __init__(
        self,
        target: TargetAttr | Machine,
        workers: int | None = None,
        cache: ObjectCache | None = None,
    ) -> None:
        self.machine = machine_of(target)
        self.workers = default_workers() if workers is None else max(1, workers)
        self.cache = cache
        self._names: dict[str, None] = {}
        self._objects: dict[str, bytes] = {}
        self._pending: deque[tuple[str, str]] = deque()
        self._threads: list[threading.Thread] = []
        self._bytes = 0
        self._error: BaseException | None = None
        self._closing = False
        self._changed = threading.Condition()

    def __enter__(self) -> KernelCompiler:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._finish(abandon=error is not None)

    def submit(self, name: str, text: str) -> None:
        """Queue a kernel. Equal texts are compiled once for each name."""
        if name in self._names:
            raise InternalError(f"kernel '{name}' was given twice")
        self._names[name] = None
        if self.cache is not None:
            found = self.cache.get(object_key(text, self.machine))
            if found is not None:
                self._objects[name] = found
                return
        with self._changed:
            self._pending.append((name, text))
            self._bytes += len(text)
            self._changed.notify()
        if self._bytes > _SERIAL_BYTES:
            self.start_worker()

    def start_worker(self) -> None:
        """Start one more worker, unless there are as many as may be.

        Who knows that many kernels are to come starts one before the first: it loads LLVM meanwhile.
        """
        if 1 < self.workers > len(self._threads):
            thread = threading.Thread(target=self._feed, name=f"lamina-compile-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def has_workers(self) -> bool:
        """Whether one was started."""
        return bool(self._threads)

    def result(self) -> dict[str, bytes]:
        """All objects, in the order of submission."""
        if not self._threads:
            while self._pending:
                name, text = self._pending.popleft()
                self._store(name, text, _compiled(name, text, self.machine))
        self._finish(abandon=False)
        if self._error is not None:
            raise self._error
        return {name: self._objects[name] for name in self._names}

    def _feed(self) -> None:
        """One thread: start a worker, give it the largest text that waits, until none comes any more."""
        worker: _Worker | None = None
        try:
            worker = _Worker(self.machine)
            while (job := self._next()) is not None:
                name, text = job
                self._store(name, text, worker.compile(name, text))
        except BaseException as error:
            with self._changed:
                self._error = self._error or error
                self._pending.clear()
        finally:
            if worker is not None:
                worker.close()
                assert worker.process.stderr is not None
                worker.process.stderr.close()

    def _next(self) -> tuple[str, str] | None:
        with self._changed:
            while not self._pending:
                if self._closing or self._error is not None:
                    return None
                self._changed.wait()
            # The largest first: the last job to finish should be a short one.
            largest = max(range(len(self._pending)), key=lambda i: len(self._pending[i][1]))
            self._pending.rotate(-largest)
            return self._pending.popleft()

    def _store(self, name: str, text: str, data: bytes) -> None:
        self._objects[name] = data
        if self.cache is not None:
            self.cache.put(object_key(text, self.machine), data)

    def _finish(self, abandon: bool) -> None:
        with self._changed:
            if abandon:
                self._pending.clear()
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()


def compile_all(
    texts: Mapping[str, str],
    target: TargetAttr | Machine,
    workers: int | None = None,
    cache: ObjectCache | None = None,
) -> dict[str, bytes]:
    """Objects of all texts, by the same names."""
    with KernelCompiler(target, workers, cache) as compiler:
        # The largest first, so that they do not come last.
        for name in sorted(texts, key=lambda n: (-len(texts[n]), n)):
            compiler.submit(name, texts[name])
        found = compiler.result()
    return {name: found[name] for name in texts}
