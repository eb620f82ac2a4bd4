"""Functions in the place of `lamina.tuning.measuring.measure`, for tests of who calls it in a process of its own."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lamina.errors import InputError
from lamina.ir.pipeline import parse_pipeline
from lamina.tuning.measuring import chosen


def by_factor(control: str, known: Sequence[str], constants: Any, again: bool = False, **given: Any) -> dict[str, Any]:
    """A time that is least where the loop j is split by 24, and looks better the first time than the second."""
    _, trace = chosen(known=known, **given)
    if trace in known:
        return {"trace": trace, "known": True}
    drawn = re.search(r'sample_categorical \[(.*)\] knob "j_1" decision (\d+)', trace)
    assert drawn is not None
    factor = int(drawn[1].split(",")[int(drawn[2])])
    ratio = 0.5 + abs(factor - 24) / 24 + 0.05 * again
    return {"trace": trace, "ratio": (ratio, ratio - 0.01, ratio + 0.01), "seconds": ratio / 1000}


def refused(**arguments: Any) -> dict[str, Any]:
    """A configuration that cannot be applied."""
    raise InputError("reorder names a loop twice")


def warm() -> None:
    """Import what the others do."""
    parse_pipeline("te-draw-decisions")


def _loop() -> None:
    while True:
        pass


SABOTAGE: dict[str, Callable[[], Any]] = {
    "crash: the process died of SIGSEGV": lambda: ctypes.string_at(0),
    "crash: the process died of SIGABRT": os.abort,
    "crash: the process ended with status 3": lambda: os._exit(3),
    "memory": lambda: np.ones(20 << 30, np.uint8),
    "hang: no end after": _loop,
}


def sabotaged(space: str, seeds: Sequence[int], **arguments: Any) -> dict[str, Any]:
    """What bad kernels do to the process that they run in, one after the other; every sixth computes something else."""
    ways = list(SABOTAGE.values())
    if seeds[0] % 6 < len(ways):
        ways[seeds[0] % 6]()
    return {"trace": space, "wrong": "out0[0] is 1.0, not 2.0 (1 of 8)"}
