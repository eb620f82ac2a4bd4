"""Threads that share the parts of a product, each of which calls OpenBLAS for one thread.

OpenBLAS's own threads poll while they have nothing to do, and its caller polls until they are done: where other threads
want the processors, those of Lamina's kernels among them, products took many times as long as with one thread. These
sleep, and the copies that make columns are shared as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

SHARED = 1 << 21
"""Multiplications from which on a product is worth a second thread: some 50 us of work for one."""

_threads: ContextVar[int] = ContextVar("threads", default=1)


@contextmanager
def for_threads(count: int) -> Generator[None]:
    """Kernels that are made meanwhile share their work among so many threads."""
    token = _threads.set(count)
    try:
        yield
    finally:
        _threads.reset(token)


def shares(multiplications: int) -> int:
    """The number of threads that a kernel of so many multiplications is to use."""
    return _threads.get() if multiplications >= SHARED else 1


def spans(extent: int, parts: int) -> list[tuple[int, int]]:
    """[0, extent) as so many spans of about the same length, fewer where it is short."""
    parts = max(1, min(parts, extent))
    edges = [extent * n // parts for n in range(parts + 1)]
    return list(zip(edges, edges[1:], strict=False))


def together(parts: Sequence[Callable[[], None]]) -> None:
    """Run all of them, the first in this thread; return when all have ended."""
    first, *others = parts
    pending: list[Future[None]] = [_helpers(os.getpid()).submit(part) for part in others]
    try:
        first()
    finally:
        # Whatever happens, nobody writes to the arrays of a call that has ended.
        for future in pending:
            future.exception()
    for future in pending:
        future.result()


@cache
def _helpers(process: int) -> ThreadPoolExecutor:
    """The threads of this process: a child that was forked from it has none of them."""
    return ThreadPoolExecutor(os.cpu_count() or 1, f"openblas-{process}")
