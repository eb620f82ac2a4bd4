"""Random programs with state that grows: run in a session, against the oracles on the past that it holds."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import onnx
import pytest

from lamina.debugging.campaign import Settings
from lamina.debugging.fuzz_case import Report, run_seed
from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.drawn import Drawn, Generator, drawn, plan_of
from lamina.debugging.generators.growing_states import PAST, runs_of_states
from lamina.debugging.generators.onnx_graph import CannotDraw
from lamina.debugging.generators.open_extents import MOST_ELEMENTS, Run
from lamina.debugging.outcome import Kind
from lamina.runtime.session import ProgramSession

SEEDS = [
    seed
    for seed in islice(Settings(0, kinds=(Generator.SYMBOLS,), sizes=(Sizes.TINY,)).seeds(), 30)
    if plan_of(seed).states
]


@pytest.fixture(scope="module")
def cases() -> list[Drawn]:
    return [case for case in map(drawn, SEEDS) if case.states]


def test_states_are_rows_behind_those_of_before(cases: list[Drawn]) -> None:
    assert len(cases) > len(SEEDS) / 2
    readers: Counter[str] = Counter()
    for case in cases:
        model = onnx.ModelProto.FromString(case.source)
        names = {i.name for i in model.graph.input}, {o.name for o in model.graph.output}
        for name, state in case.states.items():
            assert name in names[0] and state.output in names[1] and state.shape[state.axis] == 0
            readers.update(n.op_type for n in model.graph.node if state.output in n.input)
        least, most = case.ranges[PAST].split("..")
        assert int(least) == 0 and int(most) >= sum(min(run.sizes.values()) for run in case.runs)
    assert len(readers) > 3, readers


def test_rows_of_before_count_as_what_oracles_compute() -> None:
    """Quantised images of this seed, the same ones as a state: the largest took three minutes."""
    case = drawn(1826285889)
    assert case.states and max(max(run.sizes.values()) for run in case.runs) < 20
    past = sum(max(run.sizes.values()) for run in case.runs)
    assert case.ranges[PAST] == f"0..{past}"


def test_runs_are_left_out_at_which_the_rows_of_before_are_too_large() -> None:
    class Rows:
        def elements(self, sizes: dict[str, int]) -> int:
            return (sizes["n"] + sizes[PAST]) * MOST_ELEMENTS // 5

    graph: Any = Rows()
    runs = [Run({"n": n}, {}) for n in (1, 2, 9, 2)]
    assert runs_of_states(graph, runs) == [runs[0], runs[1], runs[3]]
    with pytest.raises(CannotDraw, match="the states are large at all sizes"):
        runs_of_states(graph, runs[1:3])


def test_a_session_goes_through_all_sizes() -> None:
    fired: Counter[str] = Counter()
    for seed in SEEDS[:5]:
        report = Report.of_json(run_seed(seed))
        assert report.outcome.kind in (Kind.SAME, Kind.REFUSAL), report.outcome
        fired += Counter(name for name, count in report.fired.items() if count and report.ran > 1)
    assert fired["relay-state-append"] > 2 and fired["relay-fuse-state-reads"] > 0


def test_a_row_that_is_lost_is_found(cases: list[Drawn], monkeypatch: pytest.MonkeyPatch) -> None:
    run = ProgramSession.run

    def loses(self: ProgramSession, inputs: Any) -> Any:
        found = run(self, inputs)
        self.state = {name: np.zeros_like(a) for name, a in self.state.items()}
        return found

    monkeypatch.setattr(ProgramSession, "run", loses)
    found = [Report.of_json(run_seed(case.plan.seed)).outcome for case in cases[:3]]
    wrong = [o for o in found if o.kind is not Kind.REFUSAL]
    assert wrong and all(o.kind is Kind.MISMATCH and "output 'present" in o.said for o in wrong), found
