"""Functions that test_isolate.py runs in processes of their own."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from lamina.debugging.isolate import Server
from lamina.errors import InternalError, UnsupportedError

LOADED_IN = os.getpid()


def processes() -> dict[str, int]:
    """The process that has imported this file, the one that made this one, and this one."""
    return {"loaded": LOADED_IN, "parent": os.getppid(), "own": os.getpid()}


def double(x: list[Any]) -> dict[str, Any]:
    return {"doubled": [*x, *x]}


def surroundings(name: str) -> list[str | None]:
    """The folder, and a variable of the environment."""
    return [os.getcwd(), os.environ.get(name)]


def refuse() -> None:
    raise UnsupportedError("no Foo", where="f.onnx", hint="use Bar")


def fail() -> None:
    raise KeyError("arith.index_cast")


def fail_in_a_pass() -> None:
    raise InternalError("internal error in pass 'tir-to-llvm': KeyError: 'x'", where="f.onnx")


def crash() -> None:
    print("LLVM ERROR: cannot select", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def kill_parent(trace: str) -> None:
    """End the process that makes the copies, as a lack of memory would."""
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def group() -> int:
    return os.getpgrp()


def hang_in_a_child() -> None:
    if os.fork() == 0:
        time.sleep(60)
    os.wait()


def crash_beside_a_child() -> None:
    if os.fork() == 0:
        time.sleep(60)
    os.kill(os.getpid(), signal.SIGKILL)


def write_and_hang(path: str) -> None:
    with open(path, "w") as file:
        file.write(str(os.getpid()))
    time.sleep(60)


def hang_in_a_server(path: str) -> None:
    with Server([]) as server:
        server.call("isolated_functions:write_and_hang", {"path": path})


def allocate(size: int) -> int:
    return len(bytearray(size))
