"""The glossary: each word once, and each where it says that it stands."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| \*\*(.+?)\*\* \| (.+?) \| `([\w/.-]+)`(?: `(\w+)`)? \|$")


def rows() -> list[re.Match[str]]:
    lines = (ROOT / "docs" / "glossary.md").read_text("utf-8").splitlines()
    found = [(line, ROW.match(line)) for line in lines if line.startswith("| **")]
    assert not [line for line, row in found if row is None]
    return [row for _, row in found if row is not None]


def test_each_word_stands_once() -> None:
    assert not [word for word, count in Counter(row[1] for row in rows()).items() if count > 1]
    wanted = "machine target program module kernel stage facet stair form"
    more = "level nest primitive oracle sample firing fuel arena"
    assert {*wanted.split(), *more.split()} <= {row[1] for row in rows()}


def test_words_stand_where_the_glossary_says() -> None:
    for row in rows():
        path = ROOT / row[3]
        assert path.exists(), row[0]
        if row[4]:
            declared = rf"^(?:class |def )?{row[4]}\b"
            assert re.search(declared, path.read_text("utf-8"), re.M), f"{row[3]} has no {row[4]}"


def test_meanings_are_one_or_two_sentences() -> None:
    for row in rows():
        assert 1 <= len(re.findall(r"\.(?= |$)", row[2])) <= 2, row[0]
