"""bench/process_memory.py: what a process and those that it has started hold together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))  # behind test/, which has a models.py as well

from process_memory import peak_of

MB = 1 << 20
CHILD = """
import os, time
before = bytearray(b"x") * (64 << 20)
child = os.fork()
own = bytearray(b"y") * (32 << 20)
time.sleep(0.15)
if child:
    os.waitpid(child, 0)
    print(len(own))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_pages_that_are_shared_count_once_and_those_of_children_too() -> None:
    peak, written = peak_of([sys.executable, "-c", CHILD])
    assert written == f"{32 * MB}\n"
    assert 128 * MB <= peak < 170 * MB


def test_a_command_that_fails_is_an_error() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        peak_of([sys.executable, "-c", "raise SystemExit(3)"])
