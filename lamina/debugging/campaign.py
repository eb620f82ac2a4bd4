"""Many cases, each in a process of its own: what became of them, and the tables of what they covered."""

from __future__ import annotations

import shutil
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

from lamina.debugging.fuzz_case import Report
from lamina.debugging.generators.drawn import drawn, plan_of
from lamina.debugging.generators.operators.table import rows
from lamina.debugging.isolate import Server
from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.stored_case import StoredCase

PRELOAD = ("lamina.debugging.fuzz_case:warm",)
RUN = "lamina.debugging.fuzz_case:run_seed"
LONGEST = 60.0
"""Seconds that a case may take before it counts as one that hangs."""


@dataclass(frozen=True)
class Settings:
    """What is run, and for how long."""

    first: int
    graphs: int | None = None
    minutes: float | None = None
    jobs: int = 2
    kinds: tuple[str, ...] = ()
    """Only these generators; all where there are none."""
    sizes: tuple[str, ...] = ()
    operators: frozenset[str] = frozenset()
    """Only graphs with one of these; all where there are none."""
    folder: Path = Path("build") / "fuzz"
    seconds: float = LONGEST
    until_first: bool = False
    """Whether the first fault ends the campaign."""

    def seeds(self) -> Iterator[int]:
        """Seeds from the first on, those whose case is of the wanted kinds and sizes and has a wanted operator."""
        seed, given = self.first, 0
        while self.graphs is None or given < self.graphs:
            plan = plan_of(seed)
            wanted = plan.kind in (self.kinds or (plan.kind,)) and plan.sizes in (self.sizes or (plan.sizes,))
            if wanted and (not self.operators or self.operators & drawn(seed).operators.keys()):
                given += 1
                yield seed
            seed += 1


@dataclass
class Tally:
    """What became of the cases so far."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    kinds: Counter[str] = field(default_factory=Counter[str])
    sizes: Counter[str] = field(default_factory=Counter[str])
    oracles: Counter[str] = field(default_factory=Counter[str])
    pairs: Counter[str] = field(default_factory=Counter[str])
    operators: Counter[str] = field(default_factory=Counter[str])
    fired: Counter[str] = field(default_factory=Counter[str])
    faults: dict[str, list[Report]] = field(default_factory=lambda: defaultdict(list))
    """By signature."""
    refusals: dict[str, list[Report]] = field(default_factory=lambda: defaultdict(list))
    doubtful: int = 0
    """Cases with results that roundings decide."""

    @property
    def cases(self) -> int:
        return self.outcomes.total()

    @property
    def found(self) -> int:
        """The cases that show a fault."""
        return sum(map(len, self.faults.values()))

    def add(self, report: Report) -> None:
        outcome = report.outcome
        self.outcomes[outcome.kind] += 1
        self.kinds[report.kind] += 1
        self.sizes[report.sizes] += 1
        self.oracles[report.oracle] += 1
        self.pairs[report.pair] += 1
        self.operators.update(report.operators)
        self.fired.update(report.fired.keys())
        self.doubtful += report.doubtful > 0
        if outcome.kind.is_fault:
            self.faults[outcome.signature].append(report)
        elif outcome.kind == Kind.REFUSAL:
            self.refusals[outcome.signature].append(report)


def run_campaign(settings: Settings, tell: Callable[[Tally, Report], object] = lambda tally, report: None) -> Tally:
    """Run the cases; `tell` hears of each. Failing ones are left in the folder, each in one named by its seed."""
    tally, seeds, lock = Tally(), settings.seeds(), threading.Lock()
    end = monotonic() + 60 * settings.minutes if settings.minutes is not None else None
    stop = threading.Event()
    errors: list[BaseException] = []

    def next_seed() -> int | None:
        with lock:
            if stop.is_set() or (end is not None and monotonic() > end):
                return None
            return next(seeds, None)

    def work() -> None:
        try:
            with Server(PRELOAD) as server:
                while (seed := next_seed()) is not None:
                    report = run_case(server, seed, settings)
                    with lock:
                        tally.add(report)
                        tell(tally, report)
                    if settings.until_first and tally.found:
                        stop.set()
        except BaseException as error:
            errors.append(error)
            stop.set()

    threads = [threading.Thread(target=work, name=f"lamina-fuzz-{n}") for n in range(settings.jobs)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        stop.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    return tally


def run_case(server: Server, seed: int, settings: Settings) -> Report:
    """One case in a copy of the server. Its folder stays where it shows a fault."""
    folder = settings.folder / str(seed)
    found = server.call(RUN, {"seed": seed, "store": str(folder)}, settings.seconds)
    if isinstance(found, Outcome):
        plan = plan_of(seed)
        report = Report(seed, plan.kind, plan.sizes, plan.special, replace(found, where=found.where or "fuzz"))
        if (folder / "case.json").is_file():
            case = StoredCase.read(folder)
            case.outcome = report.outcome
            case.write(folder)
    else:
        report = Report.of_json(found)
    if not report.outcome.kind.is_fault:
        shutil.rmtree(folder, ignore_errors=True)
    return report


# -- tables --------------------------------------------------------------------------------------------------------


def table(tally: Tally, known: list[str], passes: list[str]) -> str:
    """The tables at the end. `known` are the operators that the importer knows, `passes` those that optimise."""
    lines = [f"{tally.cases:,} graphs: {_counts(tally.kinds)}", f"sizes: {_counts(tally.sizes)}"]
    lines += [f"compared with: {_counts(tally.oracles)}", f"second way: {_counts(tally.pairs)}"]
    lines.append(f"outcomes: {', '.join(f'{tally.outcomes[k]:,} {k.value}' for k in Kind)}")
    lines.append(f"graphs with results that roundings decide: {tally.doubtful:,}")
    lines += _found("faults", tally.faults) + _found("refusals", tally.refusals)
    lines += _columns("operators", {n: tally.operators[n] for n in known})
    lines += _columns("passes that fired, by graphs", {n: tally.fired[n] for n in passes})
    return "\n".join(lines)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name or 'none'}" for name, count in counter.most_common())


def _found(title: str, by_signature: dict[str, list[Report]]) -> list[str]:
    if not by_signature:
        return []
    lines = [f"{title} ({len(by_signature)} different):"]
    for reports in sorted(by_signature.values(), key=lambda r: -len(r)):
        o = reports[0].outcome
        seeds = " ".join(str(r.seed) for r in reports[:4])
        lines.append(f"  {len(reports)} x {o.kind.value}{f' ({o.where})' if o.where else ''}: {o.said[:200]}")
        lines.append(f"      seeds {seeds}{' ...' if len(reports) > 4 else ''}")
    return lines


def _columns(title: str, counts: dict[str, int]) -> list[str]:
    """Names with their counts, the rarest first, three in a row."""
    cells = [f"{count:>6} {name:<31}" for name, count in sorted(counts.items(), key=lambda c: (c[1], c[0]))]
    rows = ["".join(cells[n : n + 3]).rstrip() for n in range(0, len(cells), 3)]
    return [f"{title}:", *rows]


def optimising_passes() -> list[str]:
    """The passes of the default pipeline of this machine, but those that are stairs or make what stairs need."""
    from lamina.compiler import pipeline_text
    from lamina.pipeline import parse_pipeline

    names = list(dict.fromkeys(p.name for p in parse_pipeline(pipeline_text(3))))
    return [n for n in names if n not in STEPS]


STEPS = frozenset(("relay-to-te", "te-to-tir", "tir-to-llvm", "cpu-schedule", "relay-fuse-ops", "tir-lower-blocks"))
"""Passes that every program goes through: they do not optimise."""


def operators_named(name: str) -> list[str]:
    """The operators of a name that are drawn, with their domains or without."""
    found = {f"{domain}.{n}" if domain else n: n for domain, n in rows()}
    return [full for full, short in found.items() if name in (full, short)]


def known_operators() -> list[str]:
    """The operators that the importer has converters for, as the tables name them."""
    from lamina.frontends.onnx.registry import converters

    return sorted(f"{domain}.{name}" if domain else name for domain, name in converters())


COUNTERS = ("outcomes", "kinds", "sizes", "oracles", "pairs", "operators", "fired")


def as_json(tally: Tally) -> dict[str, Any]:
    """The tally as plain values."""
    found: dict[str, Any] = {name: dict(getattr(tally, name)) for name in COUNTERS}
    found["faults"] = {s: [r.json() for r in reports] for s, reports in tally.faults.items()}
    found["refusals"] = {s: [r.seed for r in reports] for s, reports in tally.refusals.items()}
    return found
