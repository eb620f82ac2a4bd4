"""`autotvm.callback`: what is told of each candidate."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from lamina.compat.tvm.autotvm.measure import MeasureInput, MeasureResult
from lamina.compat.tvm.autotvm.record import encode
from lamina.errors import UnsupportedError, UsageError
from lamina.store.record_file import append_lines
from lamina.store.text_file import check_place

if TYPE_CHECKING:
    from lamina.compat.tvm.autotvm.tuner import Tuner

PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
"""Of operations a second."""


def log_to_file(
    file_out: str | os.PathLike[str], protocol: str = "json"
) -> Callable[[Tuner, Sequence[MeasureInput], Sequence[MeasureResult]], None]:
    """Add each candidate to a log. Raises InputError for a place where no file can be."""
    if protocol != "json":
        raise UnsupportedError(f"a log in {protocol!r}", hint='protocol="json"')
    check_place(os.fspath(file_out))

    def add(_: Tuner, inputs: Sequence[MeasureInput], results: Sequence[MeasureResult]) -> None:
        append_lines(file_out, (encode(i, r) for i, r in zip(inputs, results, strict=True)))

    return add


def progress_bar(
    total: int, prefix: str = "", si_prefix: str = "G"
) -> Callable[[Tuner, Sequence[MeasureInput], Sequence[MeasureResult]], None]:
    """Write a line to stderr that says how fast the latest and the best candidate are, and how far the search is.

    On a terminal the line is written over; elsewhere there is the last one only.
    """
    if si_prefix not in PREFIXES:
        raise UsageError(f"progress_bar: si_prefix {si_prefix!r}", hint=f"there are {', '.join(map(repr, PREFIXES))}")
    start, done = monotonic(), 0

    def show(tuner: Tuner, inputs: Sequence[MeasureInput], results: Sequence[MeasureResult]) -> None:
        nonlocal done
        done += len(results)
        seconds = [float(r.costs[0]) for r in results if r.error_no == 0]
        unit = PREFIXES[si_prefix]
        current = tuner.task.flop / seconds[-1] / unit if seconds else 0.0
        line = (
            f"{prefix} Current/Best: {current:7.2f}/{tuner.best_flops / unit:7.2f} {si_prefix}FLOPS | "
            f"Progress: ({done}/{total}) | {monotonic() - start:.2f} s"
        )
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{line}")
        if done >= total:
            sys.stderr.write("\n" if sys.stderr.isatty() else f"{line}\n")
        sys.stderr.flush()

    return show
