"""A lock that a forked child finds free: the thread that held it is not there to let it go."""

from __future__ import annotations

import os
import threading
import weakref


class ForkLock:
    """Like `threading.Lock`.

    What it guards may be half done where a thread was inside while another one forked: the owner must be able to start
    afresh from any state.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        """The lock itself; a child has another one."""
        _locks.add(self)

    def acquire(self, timeout: float = -1) -> bool:
        """Whether it could be had within so many seconds; without a limit if negative."""
        return self.lock.acquire(timeout=timeout)

    def release(self) -> None:
        if self.lock.locked():  # not in the child of a fork while this thread held it
            self.lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def renew(self) -> None:
        """In the child."""
        self.lock = threading.Lock()


_locks: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _after_fork() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
