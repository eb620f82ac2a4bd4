"""Compiled programs in this process: the thread pool, and one foreign call an inference.

pool = ThreadPool(threads=2)
program = Program(library, "main", entries=53)
program.run([weights_address, arena_address], pool)
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina.backends.cpu.processors import available_threads
from lamina.backends.cpu.runtime.layout import HEADER_BYTES, LINE_BYTES, STATUS_WORDS
from lamina.runtime.fork_lock import ForkLock
from lamina.runtime.machine_code import CodeLibrary, runtime_library

if TYPE_CHECKING:
    from lamina.backends.cpu.object_cache import ObjectCache

DEFAULT_SPINS = 5000
"""Polls before an idle worker sleeps: some 0.1 to 0.2 ms, longer than the serial kernels inside a network."""

PATIENCE = 10.0
"""Seconds that the end of the workers waits for a run."""

_SPINS_OFFSET, NUMBERS_OFFSET, _MEMBERS_OFFSET = 208, 216, 232

_i64 = ctypes.c_int64
_ptr = ctypes.c_void_p


class _Calls(NamedTuple):
    run: Any
    parallel: Any
    start: Any
    stop: Any


_calls_made: _Calls | None = None


def _calls(cache: ObjectCache | None = None) -> _Calls:
    global _calls_made
    if _calls_made is None:
        library = runtime_library("pool", cache)
        _calls_made = _Calls(
            library.function("lamina_run", _i64, _ptr, _ptr, _i64, _i64, _ptr, _ptr),
            library.function("lamina_parallel", None, _ptr, _ptr, _i64, _i64, _ptr),
            library.function("lamina_pool_start", _i64, _ptr, _i64),
            library.function("lamina_pool_stop", None, _ptr),
        )
    return _calls_made


class _Workers:
    """The block of memory of running workers. Lives until they have ended."""

    def __init__(self, count: int, members: int, spins: int, calls: _Calls, lock: ForkLock) -> None:
        """`members`: how many of them at most are in a team, where all have to run at the same time."""
        lines = HEADER_BYTES + -(-8 * count // LINE_BYTES) * LINE_BYTES
        self._buffer = ctypes.create_string_buffer(lines + LINE_BYTES * (count + 2))
        self.address = (ctypes.addressof(self._buffer) + LINE_BYTES - 1) & -LINE_BYTES
        self.process = os.getpid()
        self._calls = calls
        self._lock = lock
        _i64.from_address(self.address + _SPINS_OFFSET).value = spins
        _i64.from_address(self.address + NUMBERS_OFFSET).value = self.address + lines
        _i64.from_address(self.address + _MEMBERS_OFFSET).value = members
        self.count = int(calls.start(self.address, count))

    def stop(self) -> None:
        """End the workers when their job is done."""
        # After a fork the workers exist in the parent only; the child has but a copy of their memory.
        if not self.count or self.process != os.getpid():
            return
        # When the process ends, a daemon thread may be in the middle of a run. What takes longer dies with the process.
        if self._lock.acquire(PATIENCE):
            try:
                self._calls.stop(self.address)
                self.count = 0
            finally:
                self._lock.release()


class ThreadPool:
    """Threads that share the loops of a kernel with the caller. Any thread may use it; one job runs at a time.

    There are as many as asked for, by default as many as the process has processors. Where they are more than that,
    idle workers do not spin: they would keep the processors from those that have work. Teams, whose threads wait for
    each other time and again, are no larger than the processors are many.
    The workers start at first use. A child process forked from this one starts workers of its own.
    """

    def __init__(self, threads: int | None = None, spins: int = DEFAULT_SPINS) -> None:
        available = available_threads()
        self.threads = available if threads is None else max(1, threads)
        self.spins = spins if self.threads <= available else 0
        self.members = min(self.threads, available) - 1
        self._workers: _Workers | None = None
        self._stop: weakref.finalize[Any, Any] | None = None
        self._closed = False
        self.lock = ForkLock()
        _pools.add(self)

    def address(self) -> int | None:
        """The pool for the runner, None when there is nothing to share. Call it with the lock held."""
        if self.threads == 1:
            return None
        if self._closed:
            raise RuntimeError("the thread pool is closed")
        if self._workers is None:
            workers = _Workers(self.threads - 1, self.members, self.spins, _calls(), self.lock)
            # At exit, too: the code that the workers wait in must outlive them.
            self._stop = weakref.finalize(self, workers.stop)
            self._workers = workers
        return self._workers.address if self._workers.count else None

    def parallel(self, kernel: int, arguments: int, extent: int, grain: int) -> None:
        """kernel(arguments, lo, hi) over slices of [0, extent)."""
        with self.lock:
            _calls().parallel(kernel, arguments, extent, grain, self.address())

    def end(self) -> None:
        """End the workers when their job is done; the next job starts others."""
        with self.lock:
            stop, self._stop, self._workers = self._stop, None, None
        if stop is not None:
            stop()

    def close(self) -> None:
        """End the workers for good. Closing twice is allowed."""
        self._closed = True
        if self._stop is not None:
            self._stop()

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def forget(self) -> None:
        """In a forked child: the workers are gone."""
        self._workers = None
        if self._stop is not None:
            self._stop.detach()
            self._stop = None


_pools: weakref.WeakSet[ThreadPool] = weakref.WeakSet()


def _after_fork() -> None:
    for pool in list(_pools):
        pool.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Failure(NamedTuple):
    """A failure that a kernel reported: its code, and which entry of the program it was."""

    code: int
    entry: int


class Program:
    """The table `@<name>.program` of a library and its arguments."""

    def __init__(self, library: CodeLibrary, name: str, entries: int, cache: ObjectCache | None = None) -> None:
        self._library = library
        self.entries = entries
        self._table, self._arguments = (library.address(symbol) for symbol in self.symbols(name))
        self._run = _calls(cache).run

    @staticmethod
    def symbols(name: str) -> tuple[str, str]:
        """The symbols of a program's table and of its arguments."""
        return f"{name}.program", f"{name}.arguments"

    def run(
        self,
        bases: Sequence[int],
        pool: ThreadPool | None = None,
        first: int = 0,
        last: int | None = None,
    ) -> Failure | None:
        """Run entries [first, last). `bases` are addresses; base 0, the status block, is added in front."""
        last = self.entries if last is None else last
        if not 0 <= first <= last <= self.entries:
            raise ValueError(f"entries [{first}, {last}) of a program with {self.entries}")
        status = (_i64 * STATUS_WORDS)()
        given = (_ptr * (len(bases) + 1))(ctypes.addressof(status), *bases)
        return self.run_on(given, status, pool, first, last)

    def run_on(self, given: Any, status: Any, pool: ThreadPool | None, first: int, last: int) -> Failure | None:
        """The same with the status block and the array of all addresses at hand, the first that of the block."""
        if pool is None or pool.threads == 1:
            code = self._run(self._table, self._arguments, first, last, given, None)
        else:
            with pool.lock:
                code = self._run(self._table, self._arguments, first, last, given, pool.address())
        return Failure(int(code), int(status[1])) if code else None
