"""Memory scopes, and the buffers that each can hold."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.dialects.index.linear import Linear
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.tir.memory import SCOPES


def check_scope(scope: str, extents: Sequence[Linear], what: str) -> None:
    """Raises ScheduleError for a scope that there is not, and for registers of which nobody knows the number."""
    if scope not in SCOPES:
        raise ScheduleError(f"{what}: unknown memory scope {scope!r}; it is one of {', '.join(SCOPES)}")
    if scope == "register" and not all(e.is_constant for e in extents):
        raise ScheduleError(f"{what}: its extents are known only at run time, the number of registers is not")
