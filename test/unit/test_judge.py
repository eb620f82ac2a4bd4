"""Judges share a server: one that has ended leaves it to the next, where nothing has changed meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.debugging import judge
from lamina.debugging.judge import Judge
from lamina.debugging.outcome import Kind

pytestmark = pytest.mark.slow


def server_of(asked: Judge) -> int:
    """The number of the process that a judge's programs are copies of."""
    found: Any = asked._server.call("isolated_functions:processes", {})  # pyright: ignore[reportPrivateUsage]
    return found["parent"]


@pytest.fixture(autouse=True)
def functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the servers import: the functions of these tests, and no compiler, which takes seconds."""
    monkeypatch.setenv("PYTHONPATH", __file__.rpartition("/")[0])
    monkeypatch.setattr(judge, "WARM", "isolated_functions")


def test_a_judge_takes_the_server_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    with Judge() as first:
        one = server_of(first)
        with Judge() as beside:
            other = server_of(beside)
    with Judge() as second:
        assert server_of(second) == one != other
    monkeypatch.setenv("LAMINA_ANY_SETTING", "another")
    with Judge() as elsewhere:
        assert server_of(elsewhere) not in (one, other)


def test_a_server_that_is_gone_is_started_again() -> None:
    with Judge() as first:
        gone = server_of(first)
        found = first.call("isolated_functions:kill_parent", {})
        assert found.outcome.kind is Kind.CRASH
    with Judge() as second:
        assert server_of(second) != gone
