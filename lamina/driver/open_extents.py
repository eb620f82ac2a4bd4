"""Models that leave extents open: one program for all sizes; where that cannot be, one for each shape they meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeAlias
from warnings import warn

from lamina.driver.sources import Imports
from lamina.errors import InputError, LaminaError
from lamina.runtime.fork_lock import ForkLock
from lamina.runtime.program_file import StoredProgram

if TYPE_CHECKING:
    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.driver.compilation import Compilation, Fresh
    from lamina.driver.model import Origin
    from lamina.driver.open_model import OpenProgram
    from lamina.driver.settings import Settings
    from lamina.runtime.runnable import Runnable

Compile: TypeAlias = "Callable[..., Runnable]"
"""`lamina.compile`."""

OPENED = "opened"
"""Says in a program's description that its ranges are not the user's: other sizes have programs of their own."""


class Opened:
    """Takes what is built of a model: for all sizes of extents that are open; where that cannot be, one for each shape.

    with Opened(compilation, origin, fresh, compile) as opened: opened.made = build(compilation)
    """

    def __init__(self, compilation: Compilation, origin: Origin, fresh: Fresh, compile: Compile) -> None:
        self._compilation, self._origin, self._fresh, self._compile = compilation, origin, fresh, compile
        self.made: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        from lamina.dialects.infos import TypeMismatch

        if not isinstance(self._fresh, Imports) or self._fresh.opened is None:
            return False
        # A fault of ours is no reason to refuse what shapes one by one can be. State that grows is for any size only.
        if isinstance(error, (LaminaError, TypeMismatch)) and not self._origin.states:
            warn(f"one program for each shape, as there is none for all: {error}", stacklevel=4)
            compilation = self._compilation
            self.made = _by_shape(self._origin, compilation.settings, compilation.objects, self._compile)
            return True
        if isinstance(self.made, StoredProgram):
            self.made.description[OPENED] = True
        return False


class Beyond:
    """Programs for sizes that one for all is not for, where the user has said nothing of sizes."""

    def __init__(self, origin: Origin, make: Callable[[], OpenProgram]) -> None:
        self._origin = origin
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
        return Beyond(origin, lambda: _by_shape(origin, settings, objects, compile))

    def program(self) -> OpenProgram:
        """The model, read again when this is first asked for. Raises InputError where it is another one by now."""
        with self._lock:
            if self._made is None:
                if not self._origin.unchanged():
                    raise InputError("the model has changed since it was compiled", hint="compile it again")
                self._made = self._make()
            return self._made

    def close(self) -> None:
        """End the threads of the programs."""
        if self._made is not None:
            self._made.close()


def _by_shape(origin: Origin, settings: Settings, objects: ObjectCache | None, compile: Compile) -> OpenProgram:
    from lamina.driver.open_model import OpenProgram

    how: dict[str, Any] = {"opt_level": settings.context, "cache": objects is not None, "sanitize": settings.sanitize}
    return OpenProgram(origin, lambda known: compile(known, settings.attr, **how))
