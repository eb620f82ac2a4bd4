"""The oracles compared with other programs, nothing compiled: `python -m tools.oracles`."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.debugging import fuzz_case
from lamina.debugging.generators.drawn import drawn, plan_of
from lamina.driver import api
from tools import oracles

SEEDS = [n for n in range(12) if not plan_of(n).special and drawn(n).is_onnx and not drawn(n).alone]


def test_a_graph_is_compared_and_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(api, "compile", None)
    assert len(SEEDS) > 3
    assert [oracles.compared(seed) for seed in SEEDS] == [""] * len(SEEDS)
    assert oracles.compared(next(n for n in range(99) if plan_of(n).special)) is None


def test_what_differs_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(program: Any) -> dict[str, Any]:
        return {p.name: 7 for p in program.model.outputs}

    monkeypatch.setattr(fuzz_case, "ORACLES", {"one": wrong, "other": wrong})
    assert all((oracles.compared(seed) or "").startswith("output ") for seed in SEEDS)


@pytest.mark.slow
def test_the_tool_ends_when_its_time_is_up(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr("sys.argv", ["oracles", "--minutes", "0.01", "--jobs", "1", "--seed", "0"])
    assert oracles.main() == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "seeds from 0 on" and out[-1].endswith(" graphs, 0 differ")
