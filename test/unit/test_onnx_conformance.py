"""The conformance run: a part of it, and that it survives what it runs."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tools.conformance import workers
from tools.conformance.__main__ import report
from tools.conformance.cases import KINDS, Case, all_cases
from tools.conformance.workers import Outcome, run_cases

pytestmark = pytest.mark.slow

SAMPLE = 24


@pytest.mark.slow
@pytest.mark.parametrize("opt_level", [1, 3])
def test_a_sample_of_all_cases_is_right_or_refused(tmp_path: Path, opt_level: int) -> None:
    cases = random.Random(opt_level).sample([c for c in all_cases() if c.kind != "light"], SAMPLE)
    outcomes = dict((c.name, o) for c, o in run_cases(cases, 2, 60.0, opt_level, tmp_path))
    assert not {name: o for name, o in outcomes.items() if o.verdict not in ("passed", "unsupported")}
    assert sum(o.verdict == "passed" for o in outcomes.values()) > SAMPLE * 0.8
    assert not os.listdir(tmp_path), "no reproducers of internal errors"


def test_one_that_dies_and_one_that_does_not_end_cost_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(case: Case, opt_level: int) -> Outcome:
        if case.name == "dies":
            os.abort()
        while case.name == "hangs":
            time.sleep(1)
        return Outcome("passed")

    monkeypatch.setattr(workers, "run_case", run)
    cases = [Case(name, "node", name, 0, 0, None, None, ()) for name in ("a", "dies", "b", "hangs", "c", "d")]
    outcomes = {c.name: o for c, o in run_cases(cases, 2, 1.0, 3, tmp_path)}
    assert [outcomes[c.name].verdict for c in cases] == ["passed", "crashed", "passed", "hung", "passed", "passed"]
    text = report(cases, outcomes, ("hung",))
    assert "hung         hangs: no end after 1 s" in text and "4 operators with all tests passed" in text


def test_every_case_is_of_a_kind_that_the_table_has() -> None:
    cases = all_cases()
    assert {c.kind for c in cases} == set(KINDS) and len({c.name for c in cases}) == len(cases) > 2_000
