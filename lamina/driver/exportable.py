"""Programs of any machine, to be exported: what `lamina.export` writes, and what TVM's users hold between two steps.

A program for another machine cannot be run here, but all that a file of it needs is known.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lamina.driver.export import ExportedFile, export_program
from lamina.runtime.compiled import Memory
from lamina.runtime.ports import Port
from lamina.runtime.program_info import ProgramInfo

if TYPE_CHECKING:
    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.dialects.target import TargetAttr
    from lamina.driver.settings import Settings
    from lamina.driver.stage_texts import StageTexts
    from lamina.runtime.program_file import StoredProgram


@dataclass(frozen=True)
class ExportableProgram:
    """A program whose kernels have a fixed order, for this machine or another."""

    stored: StoredProgram
    settings: Settings
    texts: Callable[[], StageTexts]
    objects: ObjectCache | None

    @property
    def info(self) -> ProgramInfo:
        return ProgramInfo.from_plain(self.stored.description)

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self.info.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self.info.outputs

    @property
    def target(self) -> TargetAttr:
        """The machine that it was compiled for."""
        return self.settings.attr

    @property
    def graph(self) -> dict[str, Any]:
        """The readers of each kernel (`lamina.driver.call_graph`)."""
        return self.stored.description["graph"]

    @property
    def memory(self) -> Memory:
        """The bytes that a run needs besides inputs and outputs."""
        return Memory(
            self.info.fixed_memory(self.settings.target.threads),
            sum(a.nbytes for a in self.stored.params),
            self.info.workspaces,
        )

    @property
    def placement(self) -> str:
        """The parts that went to external backends, and what kept each other op; empty where none was asked."""
        return self.stored.description.get("placement", "")

    def text(self, level: str) -> str:
        """The program at a level, as `Executable.text`."""
        return self.texts().get(level)

    def export(
        self,
        path: str | os.PathLike[str],
        name: str | None = None,
        notes: Mapping[str, Any] | None = None,
        linker: Sequence[str] | None = None,
    ) -> None:
        """Write the program as a library, an object or an archive, as `Executable.export`; `linker` as `lamina.export`
        has it."""
        export_program(ExportedFile(path, name, linker), self.stored, self.settings.target, self.objects, notes)
