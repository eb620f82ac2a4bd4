"""`opt-tool` and `lamina` as copies of one process that has compiled something already.

    with warm_commands(environment) as folder:
        subprocess.run("opt-tool a.mlir | tail -1", shell=True, env={**environment, "PATH": f"{folder}:{path}"})

Most of a short command's time goes into imports. A copy has the words, the folder, the environment and the streams of
whoever started the command, and runs what the command runs. Where the environment says to import from other places, it
is a process of its own as ever: what is installed there was not seen when the first process began.
"""

from __future__ import annotations

import gc
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NoReturn

TOOLS = {"opt-tool": "lamina.opt_tool", "lamina": "lamina.cli"}
NEEDED = ("lamina.opt_tool.command", "lamina.cli.command", "lamina.cli.command_models", "lamina.debugging.compare")

CLIENT = """#!{python} -IS
import json, os, socket, sys

if os.environ.get("PYTHONPATH") != {imports!r}:
    os.execv({tool!r}, [{tool!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"3"], [0, 1, 2])
    server.sendall(json.dumps([{tool!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]).encode())
    server.shutdown(socket.SHUT_WR)
    answer = server.recv(16)
sys.exit(int(answer) if answer else "the process of this command is gone")
"""


@contextmanager
def warm_commands(environment: Mapping[str, str]) -> Generator[str]:
    """A folder for PATH that has both tools."""
    with tempfile.TemporaryDirectory(prefix="lamina-") as folder:
        address = f"{folder}/socket"  # not below pytest's folders, for a socket's path is short
        for name in TOOLS:
            python, tool = sys.executable, str(Path(sys.executable).with_name(name))
            imports = environment.get("PYTHONPATH")
            Path(folder, name).write_text(CLIENT.format(python=python, tool=tool, address=address, imports=imports))
            Path(folder, name).chmod(0o755)
        words = [sys.executable, "-P", __file__, address]
        given = {**environment, "LAMINA_CACHE": "off"}  # of the first process alone
        with subprocess.Popen(words, env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdin is not None and server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield folder
            server.stdin.close()  # ends it


# -- in the process that has imported everything --------------------------------------------------------------------


def serve(address: str) -> None:
    """Wait for commands until the standard input ends."""
    from lamina.debugging.verdict import warm

    for name in NEEDED:
        import_module(name)
    warm()
    gc.freeze()  # or each copy would have pages of its own for what they share
    with socket.socket(socket.AF_UNIX) as waiting:
        waiting.bind(address)
        waiting.listen()
        print("ready", flush=True)
        while waiting in select.select([waiting, 0], [], [])[0]:
            with waiting.accept()[0] as client:
                if os.fork() == 0:
                    waiting.close()
                    _answer(client)
            _bury()


def _bury() -> None:
    """Take leave of the processes that have ended: nobody else waits for them."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _answer(client: socket.socket) -> NoReturn:
    """Run a command in a process, and tell the client how it has ended."""
    try:
        streams = socket.recv_fds(client, 1, 3)[1]
        tool, words, folder, environment = json.loads(b"".join(iter(lambda: client.recv(1 << 16), b"")))
        command = os.fork()
        if command == 0:
            client.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            _run(tool, words, folder, environment)
        for stream in streams:
            os.close(stream)
        client.sendall(str(os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])).encode())
    finally:
        os._exit(0)


def _run(tool: str, words: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    """Be the command."""
    status = 1
    try:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
        sys.stderr = open(2, "w", errors="backslashreplace", buffering=1, closefd=False)
        sys.argv = [tool, *words]
        import_module(TOOLS[Path(tool).name]).main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1])
