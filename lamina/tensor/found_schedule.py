"""A schedule of a tensor program as text, such as a search has found it."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.dialects.schedule.canonical import fitted
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.te.ops import FuncOp
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.te.schedule import Schedule
from lamina.te.tensor import Operation


class FoundSchedule(Schedule):
    """The schedule of operations whose primitives stand in a te.schedule's text, under canonical names.

    `lamina.lower` and `lamina.build` take it; nothing can be added to it.
    """

    def __init__(self, outputs: Sequence[Operation], trace: str) -> None:
        super().__init__(outputs)
        self.trace = trace

    def of(self, func: FuncOp) -> ScheduleOp:
        """The te.schedule of the te.func that the operations are."""
        (found,) = parse_text(LaminaContext(), self.trace, "trace").ops
        assert isinstance(found, ScheduleOp)
        return fitted(found, func)
