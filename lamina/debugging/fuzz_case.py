"""One case: a program drawn from a seed, run in several ways, and what became of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.debugging.comparison import IN_CHAINS, IN_CHOICES, TOLERANCES, Comparer
from lamina.debugging.engines import (
    CHOICES,
    MEAN_OF_SQUARES,
    SATURATING,
    STEPS,
    by_onnx_reference,
    by_onnxruntime,
    follows_from,
)
from lamina.debugging.firing import FiringInstrument
from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.drawn import Drawn, Generator, drawn, plan_of
from lamina.debugging.generators.growing_states import PAST, GrowingState
from lamina.debugging.generators.open_extents import Run
from lamina.debugging.generators.operators.recurrent import GATES
from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.stored_case import StoredCase
from lamina.debugging.verdict import How, registry_of
from lamina.debugging.ways import ELSEWHERE, HERE, NATIVE, Compiled, Program, Way, by_oracles, load, results_of
from lamina.errors import InputError, InternalError, LaminaError, UnsupportedError

if TYPE_CHECKING:
    from lamina.driver.api import Executable

ORACLES: dict[str, Callable[[Program], dict[str, Any]]] = {
    "onnxruntime": by_onnxruntime,
    "onnx.reference": by_onnx_reference,
}

ORACLES_PAIR = "compiled against the oracles"
IMPORT_PAIR = "imported and compiled against"
"""Beginning of the place of a difference that the importer may have made."""
AGAIN = "a size again against before"
LOOSE = 10.0
"""Times as far off as others another implementation's output may be that follows from a difference of squares."""
OF_SIZES: list[Compiled] = [w for w in HERE if type(w) is Compiled and not w.double]
"""The other ways of a program for ranges of sizes: a library has no place for sizes."""
OF_UNIT = 1e-7
"""Error that another implementation may make whatever the values are: onnxruntime's functions between 0 and 1, sigmoid
for one, are as exact as 1 is, and 0 where ours are small numbers."""


Tell = Callable[..., object]
"""Hears what is compared next, and of the inputs where these are others."""


@dataclass
class Report:
    """The report of a case to the campaign."""

    seed: int
    kind: str
    sizes: str
    special: bool
    outcome: Outcome
    oracle: str = ""
    pair: str = ""
    operators: dict[str, int] = field(default_factory=dict[str, int])
    fired: dict[str, int] = field(default_factory=dict[str, int])
    doubtful: int = 0
    ran: int = 0
    """The sizes at which a program for ranges of sizes was run, and compared."""
    refused: int = 0
    """The sizes that such a program has refused, by a condition on them."""
    left_out: list[str] = field(default_factory=list[str])
    """The reasons why nodes of it were left out."""
    seconds: float = 0.0

    def json(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {**self.__dict__, "outcome": self.outcome.json()}

    @staticmethod
    def of_json(data: dict[str, Any]) -> Report:
        """The report that `json` has written."""
        fields: dict[str, Any] = {**data, "outcome": Outcome.of_json(data["outcome"])}
        return Report(**fields)


def run_alone(seed: int, store: str, load: Sequence[str] = (), kind: str = "") -> dict[str, Any]:
    """`run_seed` in a process that ends with it, after the files of `load`."""
    if load:
        registry_of(How(load=tuple(load)))
    return run_seed(seed, store, kind)


def run_seed(seed: int, store: str = "", kind: str = "") -> dict[str, Any]:
    """Draw the case of a seed and run it: a Report as JSON. It is written into the folder `store`."""
    start = perf_counter()
    plan = plan_of(seed, kind)
    report = Report(seed, plan.kind, plan.sizes, plan.special, Outcome(Kind.SAME))
    case = drawn(seed, kind)
    report.operators = dict(case.operators)
    report.left_out = list(case.left_out)
    stored = StoredCase(case.source, case.is_onnx, case.inputs, seed, plan.kind, NATIVE.name, None, case.ranges)
    if store:
        # Before it runs: it may end this process.
        stored.write(store)

    def tell(pair: str, inputs: Mapping[str, Any] | None = None) -> None:
        stored.pair, stored.inputs = pair, inputs or stored.inputs
        if store:
            (stored.write if inputs else stored.write_facts)(store)

    rng = random.Random(f"ways {seed}")
    run = RUNNERS.get(plan.kind, _run)
    stored.outcome = report.outcome = run(case, report, rng, tell)
    report.seconds = perf_counter() - start
    if store:
        stored.write_facts(store)
    return report.json()


def _run(case: Drawn, report: Report, rng: random.Random, tell: Tell) -> Outcome:
    """Run the program as this machine does and compare it with one oracle and one other way.

    `tell` hears what is compared before it runs: it may end this process.
    """
    program = Program(case.source, case.is_onnx, case.inputs)
    fired = FiringInstrument()
    try:
        got = NATIVE.executable(program, [fired]).run(program.inputs)
    except LaminaError as e:
        return _refused(e)
    report.fired = dict(fired.counts)
    comparer, outcome = _compared(program, got, case.alone, report, rng, tell)
    if outcome is not None:
        return outcome
    for way in _second_ways(report, rng):
        if not way.takes(program, report.sizes, report.special):
            continue
        tell(way.name)
        try:
            fired = FiringInstrument()
            others = way.run(program, [fired] if way.threads > 1 or way in ELSEWHERE else None)
        except LaminaError as e:
            if way.is_partial and not isinstance(e, InternalError):
                continue
            outcome = _refused(e)
            return replace(outcome, where=outcome.where or way.name)
        report.pair = way.name
        # Some passes have work where there are several threads, or on other machines.
        report.fired |= {name: count for name, count in fired.counts.items() if name not in report.fired}
        found = comparer.difference(others, got)
        if found:
            return Outcome(Kind.MISMATCH, found, way.name)
        break
    report.doubtful = comparer.doubtful
    return Outcome(Kind.SAME)


def _compared(
    program: Program, got: dict[str, Any], alone: bool, report: Report, rng: random.Random, tell: Tell
) -> tuple[Comparer, Outcome | None]:
    """Compare results with the ops' oracles, and with another implementation unless ours is `alone`: what is wrong."""
    tell(ORACLES_PAIR)
    oracles, noisy = by_oracles(program)
    comparer = Comparer([p.name for p in program.model.outputs], tolerance_of(program), noisy)
    found = comparer.difference(got, oracles)
    if found:
        return comparer, Outcome(Kind.MISMATCH, found, ORACLES_PAIR)
    report.oracle = "oracles"
    preferred = rng.choice(["onnxruntime", "onnxruntime", "onnx.reference"])
    if not program.is_onnx or report.special or alone:
        return comparer, None
    tell(IMPORT_PAIR)
    others = Comparer(comparer.names, comparer.tolerance, results_of(program, others=True))
    outcome = second_opinion(program, others, got, report, preferred)
    comparer.doubtful += others.doubtful
    return comparer, outcome


def _run_sizes(case: Drawn, report: Report, rng: random.Random, tell: Tell) -> Outcome:
    """Compile the program once for ranges of sizes and once more in another way; run and compare both at each size.

    What it refuses by name, or gives to the virtual machine, is a refusal. Nothing may be compiled at run time.
    """
    whole, fired = Program(case.source, case.is_onnx, case.inputs, case.ranges), FiringInstrument()
    try:
        _ = whole.model
    except LaminaError as e:
        return Outcome.of_error(e)  # of the ranges: a user may give fewer sizes
    try:
        keeping = replace(whole, states={name: s.output for name, s in case.states.items()}, _model=None)
        executable = NATIVE.executable(keeping if case.states else whole, [fired])
    except LaminaError as e:
        return _refused(e)
    if not executable.is_fixed:
        return Outcome(Kind.REFUSAL, "there are no kernels in a fixed order: the virtual machine runs it")
    report.fired = dict(fired.counts)
    steps = SessionRuns(executable, case.states, _room(executable, whole.shapes, rng) if case.states else {})
    others: dict[str, Executable] = {}
    for way in _second_ways(report, rng):
        if isinstance(way, Compiled) and way in OF_SIZES and way.takes(whole, report.sizes, report.special):
            tell(way.name)
            try:
                others[way.name] = way.executable(whole)
                break
            except LaminaError as e:
                if not way.is_partial or isinstance(e, InternalError):
                    outcome = _refused(e)
                    return replace(outcome, where=outcome.where or way.name)
    report.pair = next(iter(others), "")
    return _at_sizes(case, whole, steps, others, fired, report, rng, tell)


def _room(executable: Executable, ranges: Mapping[str, str], rng: random.Random) -> dict[str, Any]:
    """Arguments of a session of state that grows in place: none, room for all rows, or room that grows."""
    if not any(value.growth for value in executable.kept()):
        return {}
    return rng.choice([{}, {"capacity": int(ranges[PAST].split("..")[1])}, {"capacity": 3, "grow": True}])


@dataclass
class SessionRuns:
    """Runs of a program. With states each begins with what the run before has left, in a session."""

    executable: Executable
    states: Mapping[str, GrowingState]
    room: Mapping[str, Any]
    """Arguments of the session."""

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin again, without rows."""
        self._session = self.executable.session(**self.room) if self.states else None

    def given(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """All inputs of the next run, copies of the states among them."""
        now = self._session.state if self._session is not None else {}
        first = {name: np.zeros(s.shape, s.dtype) for name, s in self.states.items()}
        return {**inputs, **{name: np.array(now.get(name, rows)) for name, rows in first.items()}}

    def sizes(self, run: Run) -> dict[str, int]:
        """The sizes of the next run, that of the past among them."""
        given = self.given({})
        rows = [given[name].shape[s.axis] for name, s in self.states.items()]  # of each state as many
        return {**run.sizes, PAST: rows[0]} if rows else dict(run.sizes)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The results by name; those that are states are copies. Raises InputError for sizes that are refused."""
        if self._session is None:
            return self.executable.run(inputs)
        found = self._session.run(inputs)
        return found | {s.output: np.array(self._session.state[name]) for name, s in self.states.items()}


def _at_sizes(
    case: Drawn, whole: Program, steps: SessionRuns, others: Mapping[str, Executable], fired: FiringInstrument,
    report: Report, rng: random.Random, tell: Tell,
) -> Outcome:  # fmt: skip
    """Run the program at each size and compare it; then at the first once more, which is to give the same."""
    first: tuple[Mapping[str, Any], dict[str, Any]] | None = None
    for run in case.runs:
        before = fired.ran.total()
        sizes, given = steps.sizes(run), steps.given(run.inputs)
        at = " ".join(f"{name}={size}" for name, size in sizes.items())
        tell(ORACLES_PAIR, given)
        try:
            got = steps.run(run.inputs)
        except InputError:
            report.refused += 1
            continue
        first = first or (run.inputs, got)
        if fired.ran.total() > before:
            return Outcome(Kind.INTERNAL_ERROR, f"a run has compiled something, at {at}", ORACLES_PAIR)
        comparer, outcome = _compared(whole.at(sizes, given), got, case.alone, report, rng, tell)
        report.doubtful += comparer.doubtful
        for name, other in others.items() if outcome is None else ():
            tell(name)
            found = comparer.difference(other.run(given), got)
            outcome = Outcome(Kind.MISMATCH, found, name) if found else None
        if outcome is not None:
            return replace(outcome, said=f"{outcome.said}, at {at}")
        report.ran += 1
    if first is not None:
        steps.reset()
        tell(AGAIN, steps.given(first[0]))
        again = steps.run(first[0])
        if any(again[name].tobytes() != a.tobytes() for name, a in first[1].items()):
            return Outcome(Kind.MISMATCH, "the first run again, after others, gives something else", AGAIN)
    return Outcome(Kind.SAME)


def _compile_only(case: Drawn, report: Report, rng: random.Random, tell: Tell) -> Outcome:
    """Make machine code of the program, for any machine that there is."""
    from lamina.backends.cpu.machines import LEVELS, PROCESSORS
    from lamina.driver.api import texts
    from lamina.driver.settings import Settings

    name, threads = rng.choice([*LEVELS, *PROCESSORS, "aarch64"]), rng.choice((1, 2, 4))
    report.pair = name
    tell(f"{name}, {threads} threads")
    try:
        texts(load(case.source, False), Settings.of(name, threads)).get("asm")
    except LaminaError as e:
        return _refused(e)
    return Outcome(Kind.SAME)


def _second_ways(report: Report, rng: random.Random) -> list[Way]:
    """The other ways, the one to take first: mostly two threads for layers whose threads wait for each other, and for
    products of bytes a machine that may multiply them otherwise."""
    here, elsewhere = list(HERE), rng.sample(ELSEWHERE, 2)
    ways: list[Way] = [*here, *elsewhere]
    rng.shuffle(ways)
    first: Sequence[Way] = ()
    if report.operators.keys() & GATES.keys():
        first = [way for way in here if way.threads > 1]
    elif report.operators.keys() & SATURATING:
        first = elsewhere
    if first and rng.random() < 0.8:
        ways.sort(key=lambda way: way not in first)
    return ways


def _refused(error: LaminaError) -> Outcome:
    """A refusal of what is not supported. A valid program is nothing that its user has to mend."""
    outcome = Outcome.of_error(error)
    unsupported = outcome.kind is not Kind.REFUSAL or isinstance(error, UnsupportedError)
    return outcome if unsupported else replace(outcome, kind=Kind.INTERNAL_ERROR)


def second_opinion(
    program: Program, comparer: Comparer, got: dict[str, Any], report: Report, preferred: str
) -> Outcome | None:
    """Compare with what knows nothing of our importer; where the two of them disagree, one of them is on our side."""
    slow = report.sizes == Sizes.REAL
    # ONNX's reference takes too long for real sizes: it is asked where onnxruntime differs, whose sums are less exact.
    asked, wrong = against_others(program, comparer, got, "onnxruntime" if slow else preferred, slow)
    if wrong:
        return Outcome(Kind.MISMATCH, next(iter(wrong.values())), f"{IMPORT_PAIR} {' and '.join(asked)}")
    report.oracle = " and ".join(asked) or report.oracle
    return None


def against_others(
    program: Program, comparer: Comparer, got: Mapping[str, Any], preferred: str, slow: bool = True
) -> tuple[list[str], dict[str, str]]:
    """Compare with what knows nothing of our importer: who was asked, and what is wrong, by the output.

    Each answers for some of the outputs. One is wrong where an answer differs, and no other agrees. `comparer` knows
    what other programs may do otherwise. Where ONNX's reference is `slow`, it is asked about what is wrong alone.
    """
    order = sorted(ORACLES, key=lambda n: n != preferred)
    # These have the same runs.
    knowing = {
        MEAN_OF_SQUARES: replace(comparer, tolerance=LOOSE * comparer.tolerance),
        STEPS: replace(comparer, missed=IN_CHAINS),
        CHOICES: replace(comparer, missed=IN_CHOICES),
    }
    asked: list[str] = []
    left, wrong = {p.name for p in program.model.outputs}, dict[str, str]()
    for name in order:
        if not wrong and (not left or name == "onnx.reference" and slow):
            continue
        try:
            expected = ORACLES[name](program)
        except UnsupportedError:
            continue
        asked.append(name)
        for output in [n for n in expected if n in left or n in wrong]:
            left.discard(output)
            answer = {output: expected[output]}
            found = comparer.difference(got, answer, OF_UNIT)
            for operators, other in knowing.items():
                if found and output in follows_from(program.source, operators):
                    found = other.difference(got, answer, OF_UNIT)
            if not found:
                wrong.pop(output, None)
            elif output not in wrong:
                wrong[output] = found
    return asked, wrong


RUNNERS = {Generator.COMPILED: _compile_only, Generator.SYMBOLS: _run_sizes}
"""The functions that run the cases of a generator, where not as other cases."""


def tolerance_of(program: Program) -> float:
    """That of the narrowest type of a value of the program."""
    text = {str(getattr(r.type, "element_type", "")) for op in program.model.module.walk() for r in op.results}
    text |= {str(getattr(a.type, "element_type", "")) for op in program.model.module.ops for r in op.regions
             for a in r.block.args}  # fmt: skip
    narrow = {"f16": "float16", "bf16": "bfloat16"}
    return max([TOLERANCES[narrow[t]] for t in text if t in narrow] or [TOLERANCES["float32"]])


def warm() -> None:
    """Run some small cases, so that copies of this process begin with what every case needs."""
    for seed in range(2):
        run_seed(seed)
