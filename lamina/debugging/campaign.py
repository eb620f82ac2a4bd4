"""Many cases, each in a process of its own: what became of them, and the tables of what they covered."""

from __future__ import annotations

import shutil
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

from lamina.debugging.fuzz_case import Report
from lamina.debugging.generators.drawn import Generator, drawn, plan_of
from lamina.debugging.generators.operators.table import rows
from lamina.debugging.isolate import Server
from lamina.debugging.outcome import Kind, Outcome, without_names
from lamina.debugging.stored_case import FACTS, StoredCase
from lamina.errors import UsageError

PRELOAD = ("lamina.debugging.fuzz_case:warm",)
RUN = "lamina.debugging.fuzz_case:run_alone"
NO_END = 1 << 62
LONGEST = 60.0
"""Seconds that a case may take before it counts as one that hangs."""


@dataclass(frozen=True)
class Settings:
    """The cases that a campaign runs, and for how long."""

    first: int
    graphs: int | None = None
    minutes: float | None = None
    jobs: int = 2
    kinds: tuple[str, ...] = ()
    """Only these generators; all that run their programs where there are none."""
    sizes: tuple[str, ...] = ()
    operators: frozenset[str] = frozenset()
    """Only graphs with one of these; all where there are none."""
    folder: Path = Path("build") / "fuzz"
    seconds: float = LONGEST
    until_first: bool = False
    """Whether the first fault ends the campaign."""
    load: tuple[str, ...] = ()
    """Files that are loaded before each case."""

    @property
    def asked(self) -> str:
        """The generator of all seeds; "" where each has its own."""
        return Generator.COMPILED if self.kinds == (Generator.COMPILED,) else ""

    def seeds(self) -> Iterator[int]:
        """Seeds from the first on, those whose case is of the wanted kinds and sizes and has a wanted operator."""
        seed, given = self.first, 0
        while self.graphs is None or given < self.graphs:
            plan = plan_of(seed, self.asked)
            wanted = plan.kind in (self.kinds or (plan.kind,)) and plan.sizes in (self.sizes or (plan.sizes,))
            if wanted and (not self.operators or self.operators & drawn(seed).operators.keys()):
                given += 1
                yield seed
            seed += 1

    def part(self) -> Part:
        """The seeds that this looks at; without a number of graphs there is no end to them."""
        end = NO_END
        if self.graphs is not None:
            end = max(self.seeds(), default=self.first - 1) + 1
        return Part(self.first, end, self.kinds, self.sizes)


@dataclass
class Tally:
    """Counts of the outcomes of the cases so far."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    kinds: Counter[str] = field(default_factory=Counter[str])
    sizes: Counter[str] = field(default_factory=Counter[str])
    oracles: Counter[str] = field(default_factory=Counter[str])
    pairs: Counter[str] = field(default_factory=Counter[str])
    operators: Counter[str] = field(default_factory=Counter[str])
    fired: Counter[str] = field(default_factory=Counter[str])
    ranges: Counter[str] = field(default_factory=Counter[str])
    """Of programs for ranges of sizes: how many there are, and how many were run; the sizes run, and refused."""
    left_out: Counter[str] = field(default_factory=Counter[str])
    """The reasons why nodes of such programs were left out, without numbers and names."""
    faults: dict[str, list[Report]] = field(default_factory=lambda: defaultdict(list))
    """By signature."""
    refusals: dict[str, list[Report]] = field(default_factory=lambda: defaultdict(list))
    doubtful: int = 0
    """Cases with results that roundings decide."""
    parts: list[Part] = field(default_factory=list["Part"])
    """The parts that were run, in the order in which they were added up."""

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
        if report.kind == Generator.SYMBOLS:
            self.ranges.update(programs=1, run=int(report.ran > 0), sizes=report.ran, refused=report.refused)
            self.left_out.update(map(without_names, report.left_out))
        self.doubtful += report.doubtful > 0
        if outcome.kind.is_fault:
            self.faults[outcome.signature].append(report)
        elif outcome.kind == Kind.REFUSAL:
            self.refusals[outcome.signature].append(report)

    def add_part(self, other: Tally) -> None:
        """Add up with another campaign. Raises UsageError where both have run the same cases."""
        for part in other.parts:
            self.refuse_again(part)
        for name in COUNTERS:
            getattr(self, name).update(getattr(other, name))
        for mine, its in ((self.faults, other.faults), (self.refusals, other.refusals)):
            for signature, reports in its.items():
                mine[signature] += reports
        self.doubtful += other.doubtful
        self.parts += other.parts

    def refuse_again(self, part: Part) -> None:
        """Raise UsageError where cases of a part are counted already."""
        for known in self.parts:
            if known.shares(part):
                raise UsageError(f"of the seeds {part} some are counted already, in {known}")


@dataclass(frozen=True)
class Part:
    """The seeds that a campaign has looked at, and which of them it has run."""

    first: int
    end: int
    """The first seed that it has not looked at."""
    kinds: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()

    def shares(self, other: Part) -> bool:
        """Whether a case may be in both."""
        seeds = max(self.first, other.first) < min(self.end, other.end)
        pairs = (self.kinds, other.kinds), (self.sizes, other.sizes)
        return seeds and all(not a or not b or not set(a).isdisjoint(b) for a, b in pairs)

    def __str__(self) -> str:
        what = " ".join((*self.kinds, *self.sizes))
        end = f"to {self.end - 1}" if self.end < NO_END else "on"
        return f"{self.first} {end}{f' ({what})' if what else ''}"


def run_campaign(settings: Settings, tell: Callable[[Tally, Report], object] = lambda tally, report: None) -> Tally:
    """Run the cases; `tell` hears of each. Failing ones are left in the folder, each in one named by its seed."""
    tally, seeds, lock = Tally(), settings.seeds(), threading.Lock()
    last = settings.first - 1
    end = monotonic() + 60 * settings.minutes if settings.minutes is not None else None
    stop = threading.Event()
    errors: list[BaseException] = []

    def next_seed() -> int | None:
        nonlocal last
        with lock:
            if stop.is_set() or (end is not None and monotonic() > end):
                return None
            seed = next(seeds, None)
            last = seed if seed is not None else last
            return seed

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
    tally.parts.append(Part(settings.first, last + 1, settings.kinds, settings.sizes))
    return tally


def run_case(server: Server, seed: int, settings: Settings) -> Report:
    """One case in a copy of the server. Its folder stays where it shows a fault."""
    folder = settings.folder / str(seed)
    shutil.rmtree(folder, ignore_errors=True)
    arguments = {"seed": seed, "store": str(folder), "load": list(settings.load), "kind": settings.asked}
    found = server.call(RUN, arguments, settings.seconds)
    if isinstance(found, Outcome):
        plan = plan_of(seed, settings.asked)
        report = Report(seed, plan.kind, plan.sizes, plan.special, replace(found, where=found.where or "fuzz"))
        if (folder / FACTS).is_file():
            case = StoredCase.read(folder)
            if found.kind in (Kind.CRASH, Kind.HANG):
                report.outcome = replace(found, where=case.pair)  # what ran, rather than the function that ran it
            case.outcome = report.outcome
            case.write_facts(folder)
    else:
        report = Report.of_json(found)
    if not report.outcome.kind.is_fault:
        shutil.rmtree(folder, ignore_errors=True)
    return report


# -- tables --------------------------------------------------------------------------------------------------------


OPERATOR_GOAL, PASS_GOAL = 50, 20
"""In so many of GOAL_GRAPHS graphs an operator is to stand, and an optimising pass to fire."""
MOST_REASONS = 20
"""Reasons in the table why nodes were left out."""
GOAL_GRAPHS = 5_000


def table(tally: Tally, known: list[str], passes: list[str]) -> str:
    """The tables at the end. `known` are the operators that the importer knows, `passes` those that optimise."""
    lines = [f"{tally.cases:,} graphs: {_counts(tally.kinds)}", f"sizes: {_counts(tally.sizes)}"]
    if tally.parts:
        lines.append(f"seeds: {', '.join(map(str, tally.parts))}")
    lines += [f"compared with: {_counts(tally.oracles)}", f"second way: {_counts(tally.pairs)}"]
    lines.append(f"outcomes: {', '.join(f'{tally.outcomes[k]:,} {k.value}' for k in Kind)}")
    lines.append(f"graphs with results that roundings decide: {tally.doubtful:,}")
    if r := tally.ranges:
        lines.append(f"for ranges of sizes: {r['programs']:,} programs, {r['run']:,} run at {r['sizes']:,} sizes "
                     f"({r['refused']:,} sizes refused), the others refused or at fault")  # fmt: skip
        lines.append(f"nodes left out that are refused for ranges: {tally.left_out.total():,}")
        lines += [f"  {count} x {why[:200]}" for why, count in tally.left_out.most_common(MOST_REASONS)]
    lines += _found("refusals", tally.refusals)
    if tally.kinds.keys() - {Generator.COMPILED}:
        lines += _columns("operators", {n: tally.operators[n] for n in known}, OPERATOR_GOAL, tally.cases)
        lines += _columns("passes that fired, by graphs", {n: tally.fired[n] for n in passes}, PASS_GOAL, tally.cases)
    return "\n".join([*lines, *(_found("faults", tally.faults) or ["faults: none"])])


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name or 'none'}" for name, count in counter.most_common())


def _found(title: str, by_signature: dict[str, list[Report]]) -> list[str]:
    if not by_signature:
        return []
    lines = [f"{title}: {sum(map(len, by_signature.values())):,} graphs, {len(by_signature)} different"]
    for reports in sorted(by_signature.values(), key=lambda r: -len(r)):
        o = reports[0].outcome
        seeds = " ".join(str(r.seed) for r in reports[:4])
        lines.append(f"  {len(reports)} x {o.kind.value}{f' ({o.where})' if o.where else ''}: {o.said[:200]}")
        lines.append(f"      seeds {seeds}{' ...' if len(reports) > 4 else ''}")
    return lines


def _columns(title: str, counts: dict[str, int], goal: int, graphs: int) -> list[str]:
    """Names with their counts, the rarest first, three in a row; marked below the goal for so many graphs."""
    wanted = goal * graphs / GOAL_GRAPHS
    below = sum(count < wanted for count in counts.values())
    cells = [
        f"{'<' if count < wanted else ' '}{count:>5} {name:<31}"
        for name, count in sorted(counts.items(), key=lambda c: (c[1], c[0]))
    ]
    rows = ["".join(cells[n : n + 3]).rstrip() for n in range(0, len(cells), 3)]
    aim = f"the goal is {goal} in {GOAL_GRAPHS:,} graphs, here {wanted:.3g}"
    return [f"{title}: {below} of {len(counts)} below the goal (<); {aim}", *rows]


def optimising_passes() -> list[str]:
    """The passes of the default pipeline of this machine that act by themselves: no stairs, and nothing asked for."""
    from lamina.driver.pipelines import pipeline_text
    from lamina.ir.pipeline import parse_pipeline

    names = list(dict.fromkeys(p.name for p in parse_pipeline(pipeline_text(3))))
    return [n for n in names if n not in STEPS and n not in ASKED_FOR]


STEPS = frozenset(("relay-to-te", "te-to-tir", "tir-to-llvm", "cpu-schedule", "relay-fuse-ops", "tir-lower-blocks"))
"""Passes that every program goes through: they do not optimise."""
ASKED_FOR = {
    "relay-split-args": "relay.SplitArgs.max_function_args",
    "tir-inject-double-buffer": "te.double_buffer",
    "tir-storage-flatten": "te.storage_align",
    "tir-unroll-loop": "te.pragma auto_unroll_max_step",
}
"""Passes that do what an option or a schedule of the user asks for, and nothing where neither does: no graph makes them
fire. Random schedules have them (`bench/random_schedules.py`)."""


def operators_named(name: str) -> list[str]:
    """The operators of a name that are drawn, with their domains or without."""
    found = {f"{domain}.{n}" if domain else n: n for domain, n in rows()}
    return [full for full, short in found.items() if name in (full, short)]


def known_operators() -> list[str]:
    """The operators that the importer has converters for, as the tables name them."""
    from lamina.frontends.onnx.registry import converters

    return sorted(f"{domain}.{name}" if domain else name for domain, name in converters())


COUNTERS = ("outcomes", "kinds", "sizes", "oracles", "pairs", "operators", "fired", "ranges", "left_out")


def as_json(tally: Tally) -> dict[str, Any]:
    """The tally as plain values."""
    found: dict[str, Any] = {name: dict(getattr(tally, name)) for name in COUNTERS}
    for name in ("faults", "refusals"):
        found[name] = {s: [r.json() for r in reports] for s, reports in getattr(tally, name).items()}
    parts = [{**vars(p), "kinds": list(p.kinds), "sizes": list(p.sizes)} for p in tally.parts]
    return {"cases": tally.cases, "parts": parts, "doubtful": tally.doubtful, **found}


def of_json(data: Mapping[str, Any]) -> Tally:
    """The tally that `as_json` has written. Raises KeyError, TypeError, ValueError or AttributeError for others."""
    tally = Tally(doubtful=int(data["doubtful"]))
    for name in COUNTERS:
        getattr(tally, name).update({str(n): int(count) for n, count in data.get(name, {}).items()})
    for name in ("faults", "refusals"):
        getattr(tally, name).update({s: [Report.of_json(r) for r in found] for s, found in data[name].items()})
    for p in data["parts"]:
        tally.parts.append(Part(int(p["first"]), int(p["end"]), tuple(p["kinds"]), tuple(p["sizes"])))
    return tally
