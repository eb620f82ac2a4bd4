"""bench/against.py: two builds by turns, and the interval of their ratio."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))  # behind test/, which has a models.py as well

from against import BuildError, OneBuild, Opening, compared, files_of, mean_ratio, ratio_of, student

pytestmark = pytest.mark.slow

PACKAGE = """
print("a build may print")

class Executable:
    def run(self, inputs):
        return {{"y/0": inputs["file"] * {factor}}}

def compile(model, threads, opt_level):
    {first}
    return Executable()
"""
"""A build as far as it is used."""


def build(folder: Path, name: str, factor: float = 1.0, first: str = "pass") -> Path:
    package = folder / name / "lamina"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE.format(factor=factor, first=first))
    return folder / name


@pytest.fixture
def opening(tmp_path: Path) -> Opening:
    inputs = tmp_path / "inputs.npz"
    np.savez(inputs, np.arange(5, dtype=np.float32))
    return Opening("model.onnx", str(inputs), ["file"])


def test_builds_take_turns_and_their_outputs_are_compared(tmp_path: Path, opening: Opening) -> None:
    builds = {"old": build(tmp_path, "a"), "new": build(tmp_path, "b", 1.5)}
    found = compared(builds, opening, tmp_path / "caches", 0.01, 2)
    assert len(found["logs"]) == 2 and all(math.isfinite(log) for log in found["logs"])
    assert found["rounds"] >= 8 and found["old"] > 0 < found["new"]
    assert found["difference"] == 0.5


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("raise ValueError('no such op')", "the new build: ValueError: no such op"),
        ("import os; os._exit(7)", "the new build: it ended with 7"),
    ],
)
def test_a_build_that_fails_is_named(first: str, message: str, tmp_path: Path, opening: Opening) -> None:
    builds = {"old": build(tmp_path, "a"), "new": build(tmp_path, "b", first=first)}
    with pytest.raises(BuildError, match=message):
        compared(builds, opening, tmp_path / "caches", 0.01, 2)


def test_a_build_that_is_not_the_one_in_its_folder_is_refused(tmp_path: Path, opening: Opening) -> None:
    """The checkout is installed in this environment: a folder without a package would be measured as that."""
    first = f"globals()['__file__'] = {str(tmp_path / 'elsewhere.py')!r}"
    with pytest.raises(BuildError, match="the old build is .*elsewhere.py, not the one in "):
        compared({"old": build(tmp_path, "a", first=first)}, opening, tmp_path / "caches", 0.01, 2)


def test_a_question_before_a_model_is_open_is_an_error(tmp_path: Path) -> None:
    with OneBuild(build(tmp_path, "a"), tmp_path / "cache") as one:
        with pytest.raises(BuildError, match="no model was opened"):
            one.ask("turn", runs=1)


def test_files_of_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "a.py").write_text("old")
    (tmp_path / "link").symlink_to("room")
    git("add", ".")
    git("commit", "-qm", "one")
    (tmp_path / "room" / "a.py").write_text("new")
    monkeypatch.setattr("against.ROOT", tmp_path)
    with files_of("HEAD") as folder:
        assert (folder / "link" / "a.py").read_text() == "old" and (folder / "link").is_symlink()
    assert not folder.exists()
    with pytest.raises(BuildError, match="no commit 'nosuch' in "), files_of("nosuch"):
        pass


def test_the_interval_is_students() -> None:
    found = ratio_of([0.1, 0.2, 0.3])
    width = 4.303 * 0.1 / math.sqrt(3)
    assert [math.log(x) for x in found] == pytest.approx([0.2, 0.2 - width, 0.2 + width])
    assert ratio_of([0.5, 0.5]) == pytest.approx([math.exp(0.5)] * 3)
    # Two models of equal variance have twice the degrees of freedom of one.
    width = student(4) * math.sqrt(2 * 0.01 / 3 / 4)
    both = mean_ratio([[0.1, 0.2, 0.3], [-0.3, -0.2, -0.1]])
    assert [math.log(x) for x in both] == pytest.approx([0.0, -width, width])


def test_quantiles_between_those_of_the_table_are_the_larger_ones() -> None:
    assert [student(n) for n in (0.5, 1, 1.9, 4, 15.5, 17, 25, 1000)] == [
        *(12.706, 12.706, 12.706, 2.776, 2.131, 2.131, 2.086, 1.980),
    ]


@pytest.mark.parametrize("models", [1, 4])
def test_nineteen_of_twenty_intervals_hold_the_ratio(models: int) -> None:
    rng = random.Random(7)
    held = 0
    for _ in range(2000):
        drawn = [[rng.gauss(0.1, 0.02 + 0.01 * m) for _ in range(5)] for m in range(models)]
        found = mean_ratio(drawn)
        held += found.low <= math.exp(0.1) <= found.high
    assert 0.93 <= held / 2000 <= 0.97
