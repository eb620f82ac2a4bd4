"""The figures of the code: what counts as a line, as repeated, as long and as undocumented."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import count_code

PASSAGE = "\n".join(f"    x = f(x, {n})" for n in range(7))
TEXT = f'''"""A docstring
of two lines."""

import math

# A comment.
def shown(x):
    """Documented."""
{PASSAGE}
    return x


def silent(x):
    def inner(y):
        return y

{PASSAGE}
    return inner(x)  # beside code


try:
    import numpy
except ImportError:
    pass


class _Hidden:
    field: int = 3
    """A text below a field."""

    def method(self):
        return (
            "a text that is a value",
        )
'''


@pytest.fixture
def figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> count_code.CodeFigures:
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "file.py").write_text(TEXT)
    (tmp_path / "room" / "linked").symlink_to(tmp_path / "room")
    monkeypatch.setattr(count_code, "ROOT", tmp_path)
    return count_code.count(["room"])


def test_lines_are_code(figures: count_code.CodeFigures) -> None:
    """An import, two functions of 9 and 11 lines, a statement of 4, a class of 6."""
    assert (figures.files, figures.lines) == (1, 1 + 9 + 11 + 4 + 6)


def test_a_longer_passage_counts_once(figures: count_code.CodeFigures) -> None:
    assert figures.repeated == ["room/file.py:23: as room/file.py:9"]


def test_imports_are_no_passage(tmp_path: Path) -> None:
    file = tmp_path / "imports.py"
    names = "".join(f"    name{n},\n" for n in range(9))
    file.write_text(f"from one import (\n{names})\nfrom two import (\n{names})\n")
    assert not list(count_code.repeated_passages([count_code.code_lines(file)]))


def test_functions_that_others_may_call_are_to_have_a_docstring(figures: count_code.CodeFigures) -> None:
    assert figures.public == 2
    assert figures.undocumented == ["room/file.py:19: silent"]
    assert figures.long == []


REPEATED = 9
"""Passages of the rooms that stand elsewhere too, most of them signatures. With fewer of them it goes down."""


def test_nothing_more_is_said_twice() -> None:
    rooms = [map(count_code.code_lines, count_code.python_files([room])) for room in count_code.ROOMS]
    found = [place for room in rooms for place in count_code.repeated([*room])]
    listed = "\n".join(found)
    assert len(found) <= REPEATED, f"{len(found)} repeated passages, give the new one a place of its own:\n{listed}"
