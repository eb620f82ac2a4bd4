"""Damaged and lying models are read, or answered by one line: no traceback, little memory, at once."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import io
import resource
import time
from pathlib import Path

import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from damage import hand_made, mutations, small  # noqa: E402

from lamina.cli import command as cli  # noqa: E402

LYING = hand_made()


def answer(tmp_path: Path, data: bytes) -> None:
    """What `lamina check` and an import say of a model."""
    path = tmp_path / "net.tflite"
    path.write_bytes(data)
    for command in (["check"], ["compile", "--emit", "relay"]):
        out, err = io.StringIO(), io.StringIO()
        start = time.perf_counter()
        status = cli.run([*command, str(path)], out, err)
        assert time.perf_counter() - start < 20  # a loop as long as a lie says never ends
        said = err.getvalue()
        assert status in (0, 1, 3), said
        assert not status or said.count("\n") <= 1 and "Traceback" not in said, said
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1 << 20


def test_the_whole_model_is_read(tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(small())
    assert cli.run(["check", str(path)], io.StringIO(), io.StringIO()) == 0


@pytest.mark.parametrize("name", LYING)
def test_lying_model(tmp_path: Path, name: str) -> None:
    answer(tmp_path, LYING[name])


def test_mutations(tmp_path: Path) -> None:
    for data in mutations(small(), 30):
        answer(tmp_path, data)


@pytest.mark.slow
def test_many_mutations(tmp_path: Path) -> None:
    for data in mutations(small(), 300, seed=1):
        answer(tmp_path, data)
