"""The memory that a process and all that it has started hold together.

A compilation makes copies of its process (`lamina/driver/lowering_processes.py`), which share most of their pages. So
what counts is the proportional set size: a page that three processes have is a third of a page for each of them. It is
looked up every few milliseconds, from outside: a peak that is shorter is missed.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

INTERVAL = 0.01
"""Seconds between two looks. One takes a millisecond or two."""


def held(pid: int) -> int:
    """Bytes that a process and its descendants hold now; 0 where it has ended, or the system does not say."""
    total = 0
    for process in descendants(pid):
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue  # it has just ended
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


def descendants(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for parent in found:  # grows while it is walked
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:
                continue  # it has just ended
    return found


def peak_of(words: Sequence[str]) -> tuple[int, str]:
    """Run a command: the most bytes that it held, with all that it started, and what it wrote to its output.

    Raises CalledProcessError where it fails.
    """
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, held(process.pid))
            time.sleep(INTERVAL)
        assert process.stdout is not None
        written = process.stdout.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return peak, written
