"""Random programs of fixed seeds, of every generator and every kind of sizes, each in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lamina.debugging.campaign import PRELOAD, Settings, run_case
from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.drawn import Generator
from lamina.debugging.isolate import Server

pytestmark = pytest.mark.slow

GRAPHS = {Sizes.TINY: 1, Sizes.ODD: 1, Sizes.REAL: 1}
"""So many programs of each generator: each costs about a second."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(PRELOAD) as server:
        yield server


@pytest.mark.parametrize("kind", [k for k in Generator if k is not Generator.COMPILED])
def test_no_way_of_running_a_random_program_differs(kind: str, server: Server, tmp_path: Path) -> None:
    compared = 0
    for sizes, graphs in GRAPHS.items():
        settings = Settings(0, graphs, kinds=(kind,), sizes=(sizes,), folder=tmp_path)
        for seed in settings.seeds():
            report = run_case(server, seed, settings)
            assert not report.outcome.kind.is_fault, f"lamina fuzz --replay {seed}: {report.outcome}"
            compared += bool(report.oracle)
    assert compared >= 2, "the others were refused: nothing was compared"
