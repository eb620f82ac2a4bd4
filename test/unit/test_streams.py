"""Streams of the process that take no more, or were closed by whoever started it: both commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = {
    "lamina": f"{sys.executable} -m lamina.cli --help",
    "opt-tool": f"{sys.executable} -m lamina.opt_tool",
}
TEXT = "func.func @f() {\n  func.return\n}\n"
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full, a disk that is full")


def shell(script: str, text: str | None = TEXT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", script], input=text, capture_output=True, text=True, check=False)


@needs_full
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_said_in_one_line(command: str) -> None:
    done = shell(f"{COMMANDS[command]} >/dev/full")
    assert done.returncode == 1
    assert "the standard output" in done.stderr and "cannot write: No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1 and "internal" not in done.stderr


@needs_full
def test_notes_that_cannot_be_written_are_no_fault() -> None:
    done = shell(f"{COMMANDS['opt-tool']} -p cse --dump-pass-pipeline 2>/dev/full")
    assert done.returncode == 0 and "func.func @f" in done.stdout


def test_the_interrupt_key_is_heard_while_modules_are_imported(tmp_path: Path) -> None:
    """The status is 130, and nothing is said; here the first module that opt-tool imports presses it."""
    (tmp_path / "xdsl.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    # A shell's job in the background ignores the key, and so would what it starts.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from lamina.opt_tool import main; sys.path.insert(0, sys.argv[1]); main()"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_closed_streams_are_empty_ones(command: str) -> None:
    for closed in ("<&-", ">&-", "2>&-"):
        done = shell(f"{COMMANDS[command]} {closed}", None)
        assert (done.returncode, done.stderr) == (0, "")
