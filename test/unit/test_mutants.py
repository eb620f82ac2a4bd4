"""The faults that bench/mutants.py puts in: what they are, and that they are what they claim."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from mutant_edits import GROUPS, edits_of, edits_of_text, generated  # noqa: E402
from mutant_reach import Reach  # noqa: E402
from mutants import PER_GROUP, drawn, equivalent  # noqa: E402

RULE = """
rules += (r.relu(x) >> x).when(is_positive(x), is_float(x))

def bound(n, extents, strides):
    if n == 0:
        return 1
    if n < 4 and not extents:
        raise ValueError(f"{n + 1} is too small")
    emit(extents, strides)
    return extents

def place(n, strides):
    return max((n - 1) * strides[0], (n + n) // 2 % strides)
"""
FAULTS = [
    ("drop-condition", "(r.relu(x) >> x).when(is_float(x))"),
    ("drop-condition", "(r.relu(x) >> x).when(is_positive(x))"),
    ("drop-guard", "False"),
    ("drop-condition", "not extents"),
    ("drop-condition", "n < 4"),
    ("boundary", "n <= 4"),
    ("drop-not", "extents"),
    ("drop-statement", "pass"),
    # Six of a function are enough. The next one:
    ("exchange", "min"),
    ("drop-factor", "(n - 1)"),
    ("off-by-one", "n"),
    ("other-place", "strides[1]"),
    ("drop-modulo", "((n + n) // 2)"),
    ("round-up", "-(-(n + n) // 2)"),
]


def test_slips_of_an_engineer() -> None:
    assert [(e.operator, e.after) for e in edits_of_text(RULE, "rule.py", "rules")] == FAULTS


def test_an_edit_is_one_place_and_python() -> None:
    for edit in [e for group in GROUPS for e in edits_of(ROOT, group)[::50]]:
        text = (ROOT / edit.file).read_text()
        ast.parse(edit.applied(text))
        assert text.count("\n", 0, edit.start) + 1 == edit.line
        assert edit.before != edit.after
        with pytest.raises(ValueError, match="what stands at line"):
            edit.applied("something else")


def test_at_least_300_are_generated_and_each_has_a_name_of_its_own() -> None:
    edits = list(generated(ROOT, PER_GROUP))
    assert len(edits) >= 300
    assert len({e.name for e in edits}) == len(edits)


def test_the_draw_is_the_seeds_and_leaves_out_what_is_no_fault() -> None:
    first = drawn(30, seed=1)
    assert first == drawn(30, seed=1) != drawn(30, seed=2)
    assert not {e.name for e in first} & set(equivalent())


def test_each_edit_that_is_no_fault_exists_and_has_a_reason() -> None:
    names = {e.name for group in GROUPS for e in edits_of(ROOT, group)}
    for name, why in equivalent().items():
        assert name in names, f"{name} is no edit any more: take it out"
        assert len(why.split()) > 3


def test_the_tests_that_reach_a_function_the_specific_ones_first(tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text(
        '{"test": "slow", "seconds": 2.0, "reached": ["a.py:f", "a.py:g"]}\n'
        '{"test": "quick", "seconds": 0.1, "reached": ["a.py:f"]}\n'
        '{"test": "other", "seconds": 0.1, "reached": ["a.py:g"]}\n'
        '{"test": "quick", "reached": ["a.py:in_a_fork"]}\n'
    )
    Reach.gathered(tmp_path).write(tmp_path / "reach.json")
    reach = Reach.read(tmp_path / "reach.json")
    assert reach.of("a.py", "f") == ["quick", "slow"]
    assert reach.of("a.py", "in_a_fork") == ["quick"]
    assert set(reach.of("a.py", "module")) == {"slow", "quick", "other"}
