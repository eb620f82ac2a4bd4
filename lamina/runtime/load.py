"""Programs that others have compiled, ready to run: the front of `lamina-runtime`, which has no compiler.

net = load("net.so")            or net.lamina
results = net.run({"x": x})
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.backends.cpu.machines import check_runs_here
from lamina.backends.cpu.processors import available_threads
from lamina.dialects.machine_spec import TargetSpec
from lamina.errors import InputError, UnsupportedError
from lamina.runtime.compiled import CompiledProgram, load_program
from lamina.runtime.exported import ExportedNet, is_net
from lamina.runtime.program_file import StoredProgram
from lamina.runtime.program_info import ProgramInfo
from lamina.runtime.runnable import Runnable
from lamina.runtime.saved_file import PROGRAM, check_kind, read_saved
from lamina.runtime.session import KeptValue

if TYPE_CHECKING:
    from lamina.runtime.grown_rows import InPlace

    Array = np.ndarray[Any, np.dtype[Any]]


def load(path: str | os.PathLike[str], threads: int | None = None, verify: bool = False) -> ExportedNet | SavedNet:
    """Load a program that `lamina compile -o FILE.so` or `-o FILE.lamina` wrote, as its content says.

    It runs on as many threads as it was compiled for, or `threads`. Weights are compared with their digest with
    `verify` only. Raises InputError for other files, damaged ones, and code for another machine.
    """
    return ExportedNet(path, threads, verify) if is_net(path) else SavedNet(path, threads, verify)


class SavedNet(Runnable):
    """A saved program ready to run, from any thread. Its kernels have a fixed order; extents are known."""

    def __init__(self, path: str | os.PathLike[str], threads: int | None = None, verify: bool = False) -> None:
        where = str(path)
        found = read_saved(path, lambda _: not verify)
        check_kind(found, (PROGRAM,), where)
        description = found.description
        if external := description["external"]:
            raise UnsupportedError(f"it calls {', '.join(external)}, which only the compiler runs", where=where)
        self.target = TargetSpec(**description["target"])
        try:
            check_runs_here(self.target)
        except InputError as e:
            e.where = where
            raise
        if threads is None:
            threads = min(self.target.threads, available_threads())
        contents = {**description["contents"], "threads": threads}
        self.path = where
        self.notes: Mapping[str, Any] = description["notes"]
        """The notes that whoever saved it has kept with it."""
        self._state = [KeptValue.from_plain(v) for v in contents.get("state", ())]
        self._program: CompiledProgram = load_program(StoredProgram(contents, found.objects, found.params))

    def described(self) -> ProgramInfo:
        return self._program.info

    def run_on(self, inputs: Mapping[str, Any], out: Mapping[str, Array] | None) -> dict[str, Array]:
        return self._program.run(inputs) if out is None else self._program.run_out(inputs, out)

    def kept(self) -> list[KeptValue]:
        return self._state

    def in_place(self) -> InPlace | None:
        return self._program.sized

    def close(self) -> None:
        self._program.close()
