"""Runs ONNX's backend tests and prints what became of them by kind of test and by operator.

python -m tools.conformance                      all of them, or the last results while nothing changed
python -m tools.conformance --filter softmax     those with a part of their name, and each with its reason
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lamina.backends.cpu.jit import host_spec
from lamina.store.program_cache import sources_digest
from tools.conformance.cases import KINDS, Case, all_cases
from tools.conformance.workers import VERDICTS, Outcome, run_cases

FOLDER = Path("build") / "conformance"
BAD = ("wrong", "error", "crashed", "hung")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Status 1 when a result is wrong, a process dies, or something ends in another error."""
    parser = argparse.ArgumentParser(prog="tools.conformance", description=__doc__)
    parser.add_argument("--filter", default="", help="only tests with this in their name")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one test")
    parser.add_argument("--opt-level", type=int, default=3, help="how tests are compiled")
    parser.add_argument("--verdict", default=",".join(BAD), help="list the tests with these verdicts")
    options = parser.parse_args(arguments)
    cases = [c for c in all_cases() if options.filter in c.name]
    if not cases:
        parser.error(f"no test has {options.filter!r} in its name")
    folder = FOLDER.resolve()
    store = folder / f"results-{options.opt_level}.json"
    outcomes = _known(store)
    todo = [c for c in cases if c.name not in outcomes]
    reproducers = folder / "reproducers"
    for n, (case, outcome) in enumerate(run_cases(todo, options.jobs, options.timeout, options.opt_level, reproducers)):
        outcomes[case.name] = outcome
        if n % 100 == 99:
            _keep(store, outcomes)
            print(f"{n + 1} of {len(todo)}", file=sys.stderr)
    _keep(store, outcomes)
    listed = VERDICTS if options.filter else tuple(options.verdict.split(","))
    print(report(cases, outcomes, listed))
    return int(any(outcomes[c.name].verdict in BAD for c in cases))


def _known(store: Path) -> dict[str, Outcome]:
    """The results of earlier runs of the same sources on the same machine."""
    try:
        stored = json.loads(store.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if (stored["sources"], stored.get("machine")) != (sources_digest(), host_spec(1).text()):
        return {}
    return {name: Outcome(**fields) for name, fields in stored["outcomes"].items()}


def _keep(store: Path, outcomes: dict[str, Outcome]) -> None:
    fields = {name: asdict(o) for name, o in sorted(outcomes.items())}
    kept = {"sources": sources_digest(), "machine": host_spec(1).text(), "outcomes": fields}
    fresh = store.with_suffix(".new")
    fresh.write_text(json.dumps(kept, indent=1), "utf-8")
    fresh.replace(store)


def report(cases: Sequence[Case], outcomes: dict[str, Outcome], listed: Sequence[str]) -> str:
    """The tests with the listed verdicts one by one, then a table by operator, then one by kind."""
    lines: list[str] = []
    for case in cases:
        outcome = outcomes[case.name]
        if outcome.verdict in listed:
            lines.append(f"{outcome.verdict:12} {case.name}: {outcome.message}")
    by_operator = _table("operator", [(c.operator, outcomes[c.name].verdict) for c in cases if c.operator])
    by_kind = _table("kind", [(c.kind, outcomes[c.name].verdict) for c in cases], KINDS)
    complete = sum(1 for row in by_operator[1:-1] if row.split()[1] == row.split()[2])
    lines += ["", *by_operator, f"{complete} operators with all tests passed", "", *by_kind]
    return "\n".join(lines)


def _table(title: str, found: Sequence[tuple[str, str]], order: Sequence[str] = ()) -> list[str]:
    counts = Counter(found)
    names = sorted({n for n, _ in found}, key=lambda n: (order.index(n) if n in order else 0, n))
    head = f"{title:28}{'tests':>12}" + "".join(f"{v:>12}" for v in VERDICTS)

    def row(name: str, picked: Sequence[str]) -> str:
        numbers = [sum(counts[n, v] for n in picked) for v in VERDICTS]
        return f"{name:28}" + "".join(f"{n:>12}" for n in (sum(numbers), *numbers))

    return [head, *(row(n, [n]) for n in names), row("all", names)]


if __name__ == "__main__":
    sys.exit(main())
