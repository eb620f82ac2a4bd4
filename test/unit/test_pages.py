"""The form of pages: the README is short, decisions have a date and at most five lines."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_readme_is_short() -> None:
    """The first screen says the two commands."""
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 200
    assert {"make demo", "make test"} <= {" ".join(line.split()[:2]) for line in lines[:24]}


def test_decisions_have_a_date_and_at_most_five_lines() -> None:
    text = (ROOT / "docs" / "decisions.md").read_text("utf-8")
    decisions = re.findall(r"^- .*\n(?:  .*\n)*", text, re.M)
    assert len(decisions) > 150
    for decision in decisions:
        assert re.match(r"- 20\d\d-\d\d-\d\d ", decision), decision
        assert decision.count("\n") <= 5, decision
