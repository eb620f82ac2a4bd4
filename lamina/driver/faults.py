"""Handling of an exception in a compilation: a user's mistake gets its place, a fault of ours a reproducer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from lamina.errors import InternalError, LaminaError
from lamina.ir.diagnostics import location_name, op_name, source_position
from lamina.ir.user_code import users_mistake

if TYPE_CHECKING:
    from lamina.driver.compilation import Compilation


class Faults:
    """Stands around the passes of a compilation."""

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation
        self.done: list[str] = []
        """The passes that have come to their end."""

    def __enter__(self) -> Faults:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, LaminaError) and not isinstance(error, InternalError):
            if error.op is not None and not error.where:
                label = self._compilation.source.label
                node, position = location_name(error.op.location), source_position(error.op.location)
                place = f'{label}: node "{node}"' if node else f"{label}: {op_name(error.op)}"
                error.where = "{}:{}:{}".format(*position) if position is not None and not node else place
        elif isinstance(error, Exception):
            self._fault(error)

    def _fault(self, error: Exception) -> NoReturn:
        names = self._compilation.settings.pipeline.names()
        failed = names[len(self.done)] if len(self.done) < len(names) else names[-1]
        mistake = users_mistake(error, f"in pass '{failed}'")
        if mistake is not None:
            raise mistake from error
        said = " ".join(str(error).split())[:300]
        what = f"internal error in pass '{failed}': {type(error).__name__}: {said}"
        path = self._reproducer(what)
        hint = f"reproducer written to {path}; please report it" if path else "please report it"
        raise InternalError(what, where=self._compilation.source.label, hint=hint) from error

    def _reproducer(self, what: str) -> Path | None:
        from lamina.ir import reproducer
        from lamina.ir.printing import print_op

        again = self._compilation.again()
        try:
            text = print_op(again.source.module, again.ctx, locations=True)
        except Exception:
            return None
        return reproducer.write(text, str(again.settings.pipeline), [], what, None)
