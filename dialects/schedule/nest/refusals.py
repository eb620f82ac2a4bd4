"""Refusals of schedule primitives: one cannot be, or it would change what the program means.

The second kind goes through `refuse`. An oracle that wants to see what a refused primitive would have done applies it
within `unchecked()`: then nothing is refused for its meaning, and what the rewriting gives can be run and compared.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from xdsl.utils.exceptions import VerifyException


class ScheduleError(VerifyException):
    """A schedule primitive cannot be applied; the text says to which loop or stage and why."""


class IllegalError(ScheduleError):
    """A schedule primitive would change what the program means; the text names the dependence that it violates."""


_checked: ContextVar[bool] = ContextVar("_checked", default=True)


def refuse(message: str) -> None:
    """Raise IllegalError, unless legality is not checked; then the caller goes on and rewrites as if it were legal."""
    if _checked.get():
        raise IllegalError(message)


@contextmanager
def unchecked() -> Generator[None, None, None]:
    """Apply primitives whether or not they keep the meaning."""
    token = _checked.set(False)
    try:
        yield
    finally:
        _checked.reset(token)
