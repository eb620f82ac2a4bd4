"""The README's tables of speed, from results of the benchmark."""

from __future__ import annotations

from typing import Any

from tools.results import lines_of


def row(model: str, threads: int, ours: float, peers: dict[str, float]) -> dict[str, Any]:
    """A row of the benchmark: milliseconds."""
    best = min(peers, key=lambda p: peers[p])
    times = {name: {"median": t / 1e3} for name, t in {"lamina": ours, **peers}.items()}
    ratio = peers[best] / ours
    return {"model": model, "threads": threads, "cold_s": 2.04, "cached_s": 0.1, "peer": best, "ratio": ratio, **times}


def test_a_table_names_the_fastest_of_the_others() -> None:
    rows = [
        row("a", 1, 10, {"onnxruntime": 20, "openvino": 30}),
        row("b", 1, 10, {"onnxruntime": 90, "openvino": 80}),
        # openvino does not read it; with two threads it did not run.
        row("c", 1, 10, {"onnxruntime": 40}),
        row("a", 2, 5, {"onnxruntime": 15, "openvino": 10}),
        row("b", 2, 5, {"onnxruntime": 40, "openvino": 45}),
    ]
    versions = {"lamina": "0.1.0", "onnxruntime": "1.32.0", "openvino": "2026.4.1"}
    found = {"cpu": "znver4", "processor": "AMD EPYC", "date": "2026-11-26", "versions": versions, "rows": rows}
    said, head, _, *table = lines_of(found)
    assert said == "**AMD EPYC** (znver4), 2026-11-26, against onnxruntime 1.32.0 (ORT), openvino 2026.4.1 (OV):\n"
    assert head.count("|") == 10
    assert table == [
        "| a | 10.00 | 20.00 ORT | 2.00 | 5.00 | 10.00 OV | 2.00 | 2.0 | 0.10 |",
        "| b | 10.00 | 80.00 OV | 8.00 | 5.00 | 40.00 ORT | 8.00 | 2.0 | 0.10 |",
        "| c | 10.00 | 40.00 ORT | 4.00 |  |  |  | 2.0 | 0.10 |",
        "| geometric mean | | | 4.00 | | | 4.00 | | |",
    ]
