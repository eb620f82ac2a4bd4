"""Functions in processes of their own: what they crash, hang or use up is theirs alone.

    with Server(preload=["lamina.driver.api"]) as server:
        found = server.call("lamina.debugging.cases:run", {"seed": 7}, seconds=30)

A server is a process that has imported what the functions need and nothing else runs in; each call is a copy of it
(`fork`), so that a call costs milliseconds to start. The copy leads a process group, which is killed as a whole when
the call is over; memory is limited. Arguments and results are JSON, in the messages of `compile_worker`.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import IO, Any, cast

from lamina.backends.cpu.compile_worker import receive, send
from lamina.debugging.outcome import Kind, Outcome, one_line
from lamina.errors import UsageError

MOST_MEMORY = 12 << 30
"""Bytes of address space of a call; mapped libraries and stacks of threads count."""
GRACE = 30.0
"""Seconds beyond the limit of a call after which its server counts as lost."""
_CALL, _RESULT, _OUTCOME = b"c", b"r", b"o"
_PR_SET_PDEATHSIG = 1
"""Of prctl(2): the signal that a process gets when its parent ends."""
_ONE_THREAD = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}


class Server:
    """A warm process whose copies run functions, one at a time."""

    def __init__(
        self,
        preload: Sequence[str] = ("lamina",),
        memory: int = MOST_MEMORY,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """A server with the modules of `preload` imported; `module:function` is imported and called as well.

        `environment` is added to this process's. Nothing starts before the first call, or `start`. A call has the
        folder and the environment that this process has by then.
        """
        self._command = [sys.executable, "-m", "lamina.debugging.isolate", str(memory), *preload]
        self._added = {**_ONE_THREAD, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> subprocess.Popen[bytes]:
        """The process, started where there is none; imports go on while this returns."""
        if self._process is None or self._process.poll() is not None:
            # In a group of its own: an interrupt from the keyboard is for the caller, who ends what runs here.
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environment(), process_group=0
            )
        return self._process

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self._added}

    def call(self, function: str, arguments: Mapping[str, Any], seconds: float = 60.0) -> Any:
        """Call `module:function` and return its result; an Outcome where it raises, dies or has no end in time.

        A LaminaError is a REFUSAL unless it is internal, another exception an INTERNAL_ERROR; then CRASH and HANG.
        """
        process = self.start()
        surroundings = {"folder": os.getcwd(), "environment": self._environment()}
        given = {"function": function, "arguments": dict(arguments), "seconds": seconds, **surroundings}
        request = json.dumps(given).encode()
        try:
            assert process.stdin is not None and process.stdout is not None
            send(cast(Any, process.stdin), _CALL, request)
            ready = select.select([process.stdout], [], [], seconds + GRACE)[0]
            message = receive(cast(Any, process.stdout)) if ready else None
        except BrokenPipeError:
            message = None
        except BaseException:
            self.close()  # the answer that is due would be taken for that of the next call
            raise
        if message is None:
            self.close()
            return Outcome(Kind.CRASH, "the server of the calls is gone", function)
        kind, data = message
        found = json.loads(data)
        return Outcome.of_json(found) if kind == _OUTCOME else found

    def close(self) -> None:
        """End the process and what it runs."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.close()  # it ends its copy, and itself
        except BrokenPipeError:
            pass
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


# -- in the server -----------------------------------------------------------------------------------------------


def main() -> int:
    """The server: reads calls from stdin until its end."""
    memory, *preload = sys.argv[1:]
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what is printed here is for people
    for name in preload:
        if ":" in name:
            _function(name)()
        else:
            importlib.import_module(name)
    # What is here already is the same in every copy: their collector need not look at it.
    import gc

    gc.freeze()
    while (message := receive(cast(Any, calls))) is not None:
        request = json.loads(message[1])
        answer = _isolated(request, int(memory), calls)
        if answer is None:
            return 0
        send(cast(Any, answers), *answer)
    return 0


def _isolated(request: dict[str, Any], memory: int, calls: IO[bytes]) -> tuple[bytes, bytes] | None:
    """The answer to a call from a copy of this process; None where nobody waits for it any more."""
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as printed:
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            _work(request, memory, writing, printed.fileno())
        os.close(writing)
        try:
            found = _answer(pid, reading, calls, request["seconds"])
        finally:
            os.close(reading)
            # The group, also where its first process has ended: it may have left others.
            _kill_group(pid)
            status = os.waitpid(pid, 0)[1]
        if found == b"":
            return _OUTCOME, _json(Outcome(Kind.CRASH, _how(status, printed), request["function"]))
    if isinstance(found, bytes):
        return found[:1], found[1:]
    return (_OUTCOME, _json(found)) if found is not None else None


def _answer(pid: int, reading: int, calls: IO[bytes], seconds: float) -> bytes | Outcome | None:
    """All that a copy writes; a HANG where that takes too long, None when the calls have ended meanwhile."""
    deadline = monotonic() + seconds
    parts: list[bytes] = []
    ended = os.pidfd_open(pid)  # processes that it has left may hold the pipe open
    try:
        while True:
            ready = select.select([reading, calls, ended], [], [], max(0.0, deadline - monotonic()))[0]
            if not ready:
                return Outcome(Kind.HANG, f"no end after {seconds:g} s")
            if calls in ready:
                return None  # the next call comes after this one's answer: this is the end
            part = os.read(reading, 1 << 20) if reading in ready else b""
            if not part:
                return b"".join(parts)
            parts.append(part)
    finally:
        os.close(ended)


def _work(request: dict[str, Any], memory: int, writing: int, printed: int) -> None:
    """In the copy: run the function, write what it returns or how it fails, and end."""
    try:
        os.setpgid(0, 0)
        # In a group of its own it would outlive a server that is killed.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        allowed = resource.getrlimit(resource.RLIMIT_AS)[1]  # where this is a call of a call
        memory = memory if allowed == resource.RLIM_INFINITY else min(memory, allowed)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        try:
            answer = _RESULT + json.dumps(_function(request["function"])(**request["arguments"])).encode()
        except BaseException as error:
            answer = _OUTCOME + _json(Outcome.of_error(error, _place(error)))
        with os.fdopen(writing, "wb") as sink:
            sink.write(answer)
    finally:
        os._exit(0)


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    if not function:
        raise UsageError(f"a function is module:function, not {name!r}")
    return getattr(importlib.import_module(module), function)


def _place(error: BaseException) -> str:
    """The innermost file and function of ours that an exception came from."""
    found = ""
    trace = error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.startswith("lamina.") and not module.startswith("lamina.debugging."):
            found = f"{module}.{trace.tb_frame.f_code.co_name}"
        trace = trace.tb_next
    return found


def _how(status: int, printed: IO[bytes]) -> str:
    """The signal or status with which a copy died, and the last line that it has printed."""
    if os.WIFSIGNALED(status):
        how = f"the process died of {signal.Signals(os.WTERMSIG(status)).name}"
    else:
        how = f"the process ended with status {os.WEXITSTATUS(status)}"
    printed.seek(0)
    lines = printed.read()[-4096:].decode("utf-8", "replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "")
    return one_line(f"{how}: {last}" if last else how)


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):  # a copy that was stopped before it led a group is killed by itself
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def _json(outcome: Outcome) -> bytes:
    return json.dumps(outcome.json()).encode()


if __name__ == "__main__":
    sys.exit(main())
