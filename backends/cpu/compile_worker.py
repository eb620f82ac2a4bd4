"""A process that turns LLVM assembly into objects: texts come on stdin, objects leave on stdout.

It imports llvmlite and nothing else of weight, and lives apart because LLVM ends the process where it cannot select
an instruction. A message is a kind and a length (`<cQ`) and that many bytes: the parent sends `m` with the machine,
then `t` for each text; the answers are `o` with an object or `e` with the words of LLVM, in the same order.
"""

from __future__ import annotations

import struct
import sys
from typing import BinaryIO

HEADER = struct.Struct("<cQ")
SEPARATOR = "\n"


def send(stream: BinaryIO, kind: bytes, data: bytes) -> None:
    """Write one message, its kind in one byte, and flush."""
    stream.write(HEADER.pack(kind, len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """One message; None at the end of the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    kind, length = HEADER.unpack(header)
    data = stream.read(length)
    return (kind, data) if len(data) == length else None


def main() -> int:
    """Answer messages until stdin ends; returns the exit status 0. A text before any machine is an assertion error."""
    from lamina.backends.cpu.jit import CompileError, Machine, compile_object, load_llvm

    # While the first text is still being made.
    load_llvm()
    machine = None
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while (message := receive(source)) is not None:
        kind, data = message
        if kind == b"m":
            machine = Machine(*data.decode().split(SEPARATOR))
            continue
        assert machine is not None
        try:
            answer = b"o", compile_object(data.decode(), machine)
        except CompileError as error:
            answer = b"e", str(error).encode()
        send(sink, *answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
