"""Models that leave extents open: one program for all sizes; where that cannot be, one for each shape they meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias
from warnings import warn

from lamina.driver.sources import Imports
from lamina.errors import InputError, UnsupportedError
from lamina.runtime.fork_lock import ForkLock
from lamina.runtime.program_file import StoredProgram

if TYPE_CHECKING:
    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.driver.compilation import Compilation, Fresh
    from lamina.driver.machine_program import MachineProgram
    from lamina.driver.model import Origin
    from lamina.driver.open_model import OpenProgram
    from lamina.driver.settings import Settings
    from lamina.runtime.runnable import Runnable

Compile: TypeAlias = "Callable[..., Runnable]"
"""`lamina.compile`."""

OPENED = "opened"
"""Says in a program's description that its ranges are not the user's: other sizes have programs of their own."""


def built(
    compilation: Compilation, origin: Origin, fresh: Fresh, compile: Compile
) -> StoredProgram | MachineProgram | OpenProgram:
    """A program of a model, for all sizes of extents that are open; one for each shape where that cannot be."""
    from lamina.driver.compilation import build

    imports = fresh if isinstance(fresh, Imports) else None
    try:
        made = build(compilation)
    except (InputError, UnsupportedError) as e:
        # State that grows is for programs of any size only.
        if imports is None or imports.opened is None or origin.states:
            raise
        warn(f"one program for each shape, as there is none for all: {e}", stacklevel=4)
        return _by_shape(origin, compilation.settings, compilation.objects, compile)
    if imports is not None and imports.opened is not None and isinstance(made, StoredProgram):
        made.description[OPENED] = True
    return made


class Beyond:
    """Programs for sizes that one for all is not for, where the user has said nothing of sizes."""

    def __init__(self, make: Callable[[], OpenProgram]) -> None:
        self._make = make
        self._made: OpenProgram | None = None
        self._lock = ForkLock()

    @staticmethod
    def of(
        made: StoredProgram, origin: Origin, settings: Settings, objects: ObjectCache | None, compile: Compile
    ) -> Beyond | None:
        """Those beside a program; None where it is for what the user has said."""
        if not made.description.get(OPENED):
            return None
        return Beyond(lambda: _by_shape(origin, settings, objects, compile))

    def program(self) -> OpenProgram:
        """The model, read again when this is first asked for."""
        with self._lock:
            self._made = self._made or self._make()
            return self._made

    def close(self) -> None:
        """End the threads of the programs."""
        if self._made is not None:
            self._made.close()


def _by_shape(origin: Origin, settings: Settings, objects: ObjectCache | None, compile: Compile) -> OpenProgram:
    from lamina.driver.open_model import OpenProgram

    how: dict[str, Any] = {"opt_level": settings.context, "cache": objects is not None, "sanitize": settings.sanitize}
    return OpenProgram(origin, lambda known: compile(known, settings.attr, **how))
