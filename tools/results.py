"""Writes the tables of speed into the README, from the newest results of each processor in `bench/results`.

    python -m tools.results            rewrite the tables
    python -m tools.results --check    exit 1 when they are out of date

`make bench` writes the results (`bench/models.py --results`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import exp, log
from pathlib import Path
from typing import Any

from tools.page_parts import ROOT, write_or_check

PAGE = ROOT / "README.md"
RESULTS = ROOT / "bench" / "results"
SHORT = {"onnxruntime": "ORT", "openvino": "OV"}

Row = Mapping[str, Any]


def newest() -> list[Path]:
    """The last file of each processor, by its name."""
    return [max(folder.glob("*.json")) for folder in sorted(RESULTS.iterdir())]


def lines_of(found: Mapping[str, Any]) -> Iterator[str]:
    """The table of a processor: a row for each model, two columns for each number of threads."""
    rows: Sequence[Row] = found["rows"]
    threads = sorted({row["threads"] for row in rows})
    peers = ", ".join(
        f"{name} {found['versions'][name]} ({SHORT[name]})" for name in SHORT if name in found["versions"]
    )
    yield f"**{found['processor']}** ({found['cpu']}), {found['date']}, against {peers}:\n"
    head = ["model", *(f"{n} thread{'s' * (n > 1)}, ms | best peer | ratio" for n in threads)]
    yield f"| {' | '.join([*head, 'compiled in, s', 'from the cache, s'])} |"
    yield "|---|" + "--:|" * (3 * len(threads) + 2)
    for model in dict.fromkeys(row["model"] for row in rows):
        of_model = {row["threads"]: row for row in rows if row["model"] == model}
        cells = [cell for n in threads for cell in (figures(of_model[n]) if n in of_model else ("",) * 3)]
        first = of_model[min(of_model)]
        compiled = f"{first['cold_s']:.1f}", f"{first['cached_s']:.2f}"
        yield f"| {' | '.join([model, *cells, *compiled])} |"
    means = [f" | | {exp(sum(logs) / len(logs)):.2f}" for n in threads if (logs := ratios(rows, n))]
    yield f"| geometric mean |{' |'.join(means)} | | |"


def figures(row: Row) -> tuple[str, str, str]:
    """Our time, that of the best peer with its name, and the ratio of the two."""
    peer = row["peer"]
    return (
        f"{row['lamina']['median'] * 1e3:.2f}",
        f"{row[peer]['median'] * 1e3:.2f} {SHORT[peer]}",
        f"{row['ratio']:.2f}",
    )


def ratios(rows: Sequence[Row], threads: int) -> list[float]:
    """Logarithms of the ratios with so many threads."""
    return [log(row["ratio"]) for row in rows if row["threads"] == threads]


def main() -> int:
    """Write the tables, or compare them."""
    tables = ("\n".join(lines_of(json.loads(path.read_text("utf-8")))) for path in newest())
    return write_or_check(PAGE, "tools.results", "\n\n".join(tables) + "\n")


if __name__ == "__main__":
    sys.exit(main())
