"""The schedule and the code of each kernel of networks and blocks of all kinds are those that were kept."""

from __future__ import annotations

import pytest

from tools.decisions import EVERY, MACHINES, DecidedMachine, difference

# Constants are folded by this machine: without a fused multiply-add their last bits, and so their names, are others.
pytestmark = [pytest.mark.slow, pytest.mark.needs("x86-64-v3")]


EACH_THIRD = [(machine, slice(turn, None, 3)) for turn, machine in enumerate(MACHINES)]


@pytest.mark.parametrize(
    ("machine", "of"),
    [*EACH_THIRD, *(pytest.param(m, EVERY, marks=pytest.mark.long) for m in MACHINES)],
    ids=lambda value: getattr(value, "target", "of each third" if value != EVERY else "of all"),
)
def test_decisions_are_those_that_were_kept(machine: DecidedMachine, of: slice) -> None:
    lines = difference(machine, of)
    assert not lines, "\n".join(
        [*lines[:40], f"{len(lines)} lines; `python -m tools.decisions --write` keeps them where they are meant"]
    )
