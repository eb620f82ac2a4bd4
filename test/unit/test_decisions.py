"""The schedule and the code of each kernel of networks and blocks of all kinds are those that were kept."""

from __future__ import annotations

import pytest

from tools.decisions import MACHINES, DecidedMachine, difference

# Constants are folded by this machine: without a fused multiply-add their last bits, and so their names, are others.
pytestmark = [pytest.mark.slow, pytest.mark.needs("x86-64-v3")]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: m.target)
def test_decisions_are_those_that_were_kept(machine: DecidedMachine) -> None:
    lines = difference(machine)
    assert not lines, "\n".join(
        [*lines[:40], f"{len(lines)} lines; `python -m tools.decisions --write` keeps them where they are meant"]
    )
