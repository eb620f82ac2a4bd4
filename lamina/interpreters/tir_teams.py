"""Teams as closures: one thread after the other between two barriers, which is one of the orders that there may be.

Which thread runs an iteration depends on how many there are, but iteration i of all loops of one extent is run by the
same. So two iterations race where they touch one element, one of them changes it, no barrier stands between, and they
are not the i-th of so many both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from xdsl.ir import Operation

from lamina.dialects.tir.ops import ForOp
from lamina.dialects.tir.team import TeamOp, is_shared_out
from lamina.interpreters.tir_accesses import Env, Step
from lamina.interpreters.tir_memory import Memory, RaceError, Tracker


class _Iteration(NamedTuple):
    number: int
    extent: int

    def __str__(self) -> str:
        return f"{self.number} of {self.extent}"


class TeamTracker(Tracker):
    """Readers and writers of the elements that the threads of a team share, since they last met."""

    __slots__ = ()

    iteration: Any

    def __init__(self) -> None:
        super().__init__("", "")

    def _race(self, memory: Memory, flat: int, how: str) -> RaceError:
        return RaceError(f"the threads of a team race: %{memory.name}{memory.place(flat)} is {how}, no barrier between")


class SharedIterations(Tracker):
    """The iterations of a parallel loop of a team."""

    __slots__ = ("_team", "_extent")

    def __init__(self, loop: str, variable: str, team: TeamTracker, extent: int) -> None:
        super().__init__(loop, variable)
        self._team = team
        self._extent = extent

    def read(self, memory: Memory, flat: int) -> None:
        super().read(memory, flat)
        self._team.iteration = _Iteration(self.iteration, self._extent)
        self._team.read(memory, flat)

    def write(self, memory: Memory, flat: int, new: Any) -> None:
        super().write(memory, flat, new)
        self._team.iteration = _Iteration(self.iteration, self._extent)
        self._team.write(memory, flat, new)


def team_step(tracker: int, body: Step) -> Step:
    """The statements of a team; `tracker` is the slot of its tracker."""

    def run(env: Env) -> None:
        env[tracker] = TeamTracker()
        body(env)

    return run


def barrier_step(tracker: int) -> Step:
    """All threads of the team have met."""

    def run(env: Env) -> None:
        env[tracker].meet()

    return run


def team_around(op: Operation) -> TeamOp:
    """The team that an op of it stands in."""
    parent = op.parent_op()
    while not isinstance(parent, TeamOp):
        assert parent is not None
        parent = parent.parent_op()
    return parent


def shared_loop(op: Operation) -> ForOp | None:
    """The parallel loop that an op stands in, or is, whose iterations a team shares out."""
    found: ForOp | None = None
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, TeamOp):
        if isinstance(parent, ForOp) and is_shared_out(parent):
            found = parent
        parent = parent.parent_op()
    return found if parent is not None else None
