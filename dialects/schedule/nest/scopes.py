"""Memory scopes, and the buffers that each can hold."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.linear import Linear
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.tir.memory import SCOPES, AllocOp
from lamina.dialects.tir.ops import FuncOp


def check_scope(scope: str, extents: Sequence[Linear], what: str) -> None:
    """Raises ScheduleError for a scope that there is not, and for registers of which nobody knows the number.

    Where a later primitive may make a whole stage's buffer that of a tile, the end of the schedule decides
    (`open_registers`).
    """
    if scope not in SCOPES:
        raise ScheduleError(f"{what}: unknown memory scope {scope!r}; it is one of {', '.join(SCOPES)}")
    if scope == "register" and not all(e.is_constant for e in extents):
        raise ScheduleError(f"{what}: its extents are known only at run time, the number of registers is not")


def open_registers(func: FuncOp) -> list[AllocOp]:
    """The buffers in registers of which nobody knows the number."""
    return [op for op in all_ops(func) if type(op) is AllocOp and op.scope.data == "register" and op.sizes]
