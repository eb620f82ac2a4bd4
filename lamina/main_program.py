"""How a command starts and ends as a program of the shell."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from lamina.errors import EXIT_OK

INTERRUPTED = 130
"""The status that shells expect of a program that the interrupt key has ended."""


def end_with(run: Callable[[], int]) -> NoReturn:
    """Run a command with the streams of the process, and leave the process with its status.

    Whatever a stream's encoding lacks is written as an escape; a reader that goes away early is no fault.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:
        status = EXIT_OK
        sys.stdout = None  # type: ignore[assignment]
    sys.exit(status)
