"""Start and end of a command as a program of the shell."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from io import TextIOWrapper
from typing import Any, NoReturn

from lamina.errors import EXIT_OK, InputError, LaminaError, render_error

INTERRUPTED = 130
"""The status that shells expect of a program that the interrupt key has ended."""


class _Stream(TextIOWrapper):
    """A stream of the process. Whatever its encoding lacks is written as an escape.

    Where it takes no more, the rest is dropped, so that nobody tries again at the end. Of `stderr` this is all; of
    `stdout` a full disk is an InputError, a reader that has gone a BrokenPipeError.
    """

    def __init__(self, name: str) -> None:
        given: Any = getattr(sys, name)
        if given is None:  # closed by whoever started the process
            super().__init__(open(os.devnull, "wb"), "utf-8")
        else:
            buffered = given.line_buffering
            super().__init__(given.detach(), "utf-8", "backslashreplace", line_buffering=buffered)
        self._needed = name == "stdout"
        setattr(sys, name, self)
        setattr(sys, f"__{name}__", self)

    def write(self, s: str, /) -> int:
        try:
            return super().write(s)
        except OSError as e:
            self._drop(e)
            return len(s)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as e:
            self._drop(e)

    def _drop(self, error: OSError) -> None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self.fileno())
        os.close(null)
        if not self._needed:
            return
        if isinstance(error, BrokenPipeError):
            raise error
        raise InputError(f"cannot write: {error.strerror}", where="the standard output") from None


def path_argument(text: str) -> str:
    """The type of an argument that is the path of a file or folder, for argparse."""
    if not text:
        raise ArgumentTypeError("an empty path")
    return text


def end_with(run: Callable[[], int]) -> NoReturn:
    """Run a command with the streams of the process, and leave the process with its status.

    A reader that goes away early is no fault.
    """
    out, err = _Stream("stdout"), _Stream("stderr")
    try:
        status = run()
        out.flush()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:
        status = EXIT_OK
    except LaminaError as e:
        err.write(render_error(e) + "\n")
        status = e.exit_status
    sys.exit(status)
