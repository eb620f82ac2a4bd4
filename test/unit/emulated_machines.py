"""Machines of other processors that an emulator runs here: what builds C programs for them and starts these."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tools.header import PATH as HEADER

RUN_NET = Path(__file__).parents[2] / "examples" / "deploy" / "c" / "run_net.c"
"""The C program of the examples that runs any net."""

Array = np.ndarray[Any, np.dtype[Any]]


class EmulatedMachine(NamedTuple):
    """A machine: the target of its code, the prefix of its compiler and of its C library, the emulator with options."""

    target: str
    prefix: str
    emulator: str

    def needs_tools(self) -> None:
        """Skip the test that asks where the compiler or the emulator is not there."""
        for tool in (f"{self.prefix}-gcc", self.emulator.split()[0]):
            if shutil.which(tool) is None:
                pytest.skip(f"there is no {tool} (Debian packages qemu-user, gcc-{self.prefix}, its libc6-dev)")

    def build(self, source: Path, program: Path, *options: str) -> None:
        """Compile a C program, linked with the system's own libraries."""
        words = [f"{self.prefix}-gcc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-I", str(HEADER.parent), str(source)]
        subprocess.run([*words, "-o", str(program), *options, "-ldl"], check=True)

    def started(self, program: Path) -> list[str]:
        """The words that start a program of that machine here."""
        return [*self.emulator.split(), "-L", f"/usr/{self.prefix}", str(program)]


EMULATED = {
    "aarch64": EmulatedMachine("aarch64", "aarch64-linux-gnu", "qemu-aarch64 -cpu cortex-a53"),
    "armv7": EmulatedMachine("armv7", "arm-linux-gnueabihf", "qemu-arm -cpu cortex-a15"),
    "riscv64": EmulatedMachine("riscv64", "riscv64-linux-gnu", "qemu-riscv64 -cpu rv64,v=true,vlen=128,vext_spec=v1.0"),
}
"""The machines of targets, each emulated with no more than the target asks for."""
VARIANTS = {
    "sve": EmulatedMachine(
        "llvm -mtriple=aarch64-linux-gnu -mattr=+v9a,+sve2", "aarch64-linux-gnu", "qemu-aarch64 -cpu max,sve512=on"
    ),
    "wide-vectors": EmulatedMachine(
        "riscv64", "riscv64-linux-gnu", "qemu-riscv64 -cpu rv64,v=true,vlen=512,vext_spec=v1.0"
    ),
    "no-vectors": EmulatedMachine("rv64gc", "riscv64-linux-gnu", "qemu-riscv64 -cpu rv64,v=false"),
}
"""The same processors with more, or with less."""


def run_net(
    started: Sequence[str | Path],
    library: Path,
    name: str,
    threads: int,
    inputs: Sequence[Array],
    outputs: Sequence[Any],
    *,
    repeats: int = 3,
    limit: float = 60,
    opens: bool = False,
) -> list[Array]:
    """The outputs of a net in a library, as `run_net.c`, which `started` starts, computes them within `limit` s.

    `outputs` have shapes and types of what there will be; where extents are open, as `opens` says, the program is told
    the shapes of the inputs.
    """
    files = [library.parent / f"{n}.raw" for n in range(len(inputs) + len(outputs))]
    for file, array in zip(files, inputs, strict=False):
        array.tofile(file)
    told = [f"{'x'.join(map(str, a.shape))}={file}" for a, file in zip(inputs, files, strict=False)] if opens else []
    words = [
        *started,
        library,
        name,
        str(threads),
        str(repeats),
        *(told or files[: len(inputs)]),
        *files[len(inputs) :],
    ]
    said = subprocess.run(words, check=False, capture_output=True, text=True, timeout=limit)
    assert said.returncode == 0, f"status {said.returncode}: {said.stderr}"
    given = files[len(inputs) :]
    return [np.fromfile(f, p.dtype).reshape(p.shape) for f, p in zip(given, outputs, strict=True)]
