"""The search for schedules: kernels as tasks, candidates in processes of their own, what is kept and believed."""

from __future__ import annotations

import io
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import lamina
from lamina.backends.cpu.jit import host_target
from lamina.cli import command as cli
from lamina.cli import progress
from lamina.cli.commands import tune
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.schedule.records import Record, read_records
from lamina.errors import InputError, LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import run_pipeline
from lamina.opt_tool.command import run_opt_tool
from lamina.tuning import kernel_search, measuring, runner, tuners
from lamina.tuning.boosted_trees import Ranker, Tree
from lamina.tuning.kernel_search import Budget, search
from lamina.tuning.kernel_task import KernelTask, tasks_of
from lamina.tuning.measuring import chosen, interval, measure, timed
from lamina.tuning.progress import Progress
from lamina.tuning.runner import Candidate, Runner
from lamina.tuning.spaces import ScheduleSpace, decided_in, opened
from lamina.tuning.tuners import TUNERS, GeneticTuner, ModelTuner

from .kernel_measurements import SABOTAGE

KERNEL = """te.func @NAME(%A: tensor<8x96xf32>) -> tensor<8x96xf32> {
  %c = te.compute "C" [8, 96] (%i, %j) : tensor<8x96xf32> {
    %x = te.read %A[%i, %j] : tensor<8x96xf32>
    %s = arith.OP %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8x96xf32>
}
te.schedule @NAME {
  %i, %j = te.loops "C" [2]
  %jo, %ji = te.split %j [-1, 8]
  te.unroll %ji
}
"""
MAIN = """func.func @main(%x: tensor<8x96xf32>) -> tensor<8x96xf32> {
  %a = te.call @f(%x) : (tensor<8x96xf32>) -> tensor<8x96xf32>
  %b = te.call @g(%a) : (tensor<8x96xf32>) -> tensor<8x96xf32>
  %c = te.call @h(%b) : (tensor<8x96xf32>) -> tensor<8x96xf32>
  return %c : tensor<8x96xf32>
}
"""


def kernel(name: str, op: str = "addf") -> str:
    return KERNEL.replace("NAME", name).replace("OP", op)


def tasks(text: str) -> list[KernelTask]:
    return tasks_of(Parser(LaminaContext(), text).parse_module(), host_target(1))


@pytest.fixture
def task() -> KernelTask:
    (found,) = tasks(kernel("f"))
    return found.with_share({"f": 1.0})


@pytest.fixture
def in_place_of_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of a Runner find the functions of tests."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(runner, "WARM", "kernel_measurements:warm")


# -- tasks ---------------------------------------------------------------------------------------------------------


def test_equal_kernels_are_one_task() -> None:
    found = tasks(kernel("f") + kernel("g") + kernel("h", "mulf") + MAIN)
    assert [(t.names, t.calls) for t in found] == [(("f", "g"), 2), (("h",), 1)]
    shares = [t.with_share({"f": 1.0, "g": 2.0, "h": 3.0}).share for t in found]
    assert shares == [0.5, 0.5]
    assert found[0].key != found[1].key and found[0].threads == 1


def test_kernels_without_schedules_and_of_unknown_extents_are_no_tasks() -> None:
    alone = kernel("f").partition("te.schedule")[0]
    assert not tasks(alone)
    sizes = kernel("f").replace("(%A: tensor<8x96xf32>)", "(%n: index, %A: tensor<8x96xf32>)")
    assert len(tasks(sizes)) == 1


def test_small_weights_of_a_model_come_with_its_tasks() -> None:
    """A limit or a scale decides how far a kernel runs; large weights are drawn, as data is."""
    store = ParamStore()
    small = store.add("limit", np.array(7.5, np.float32))
    large = store.add("weight", np.ones((8, 96), np.float32))
    text = (
        kernel("f").replace("(%A: tensor<8x96xf32>)", "(%A: tensor<8x96xf32>, %l: tensor<f32>)")
        + """
    func.func @main(%x: tensor<8x96xf32>) -> tensor<8x96xf32> {
      %l = te.param #relay.param<"limit"> : tensor<f32>
      %w = te.param #relay.param<"weight"> : tensor<8x96xf32>
      %a = te.call @f(%w, %l) : (tensor<8x96xf32>, tensor<f32>) -> tensor<8x96xf32>
      return %a : tensor<8x96xf32>
    }
    """
    )
    text = text.replace('#relay.param<"limit">', str(small)).replace('#relay.param<"weight">', str(large))
    module = Parser(LaminaContext(), text).parse_module()
    (found,) = tasks_of(module, host_target(1), store)
    assert found.constants == {1: 7.5}
    assert tasks_of(module, host_target(1))[0].constants == {}


# -- measuring -----------------------------------------------------------------------------------------------------


def test_a_candidate_is_drawn_checked_and_timed(task: KernelTask) -> None:
    control, space = task.program(task.schedule), task.program(opened(task))
    found = measure(control, space, [5], 1.0, [])
    median, low, high = found["ratio"]
    assert 0 < low <= median <= high and found["seconds"] > 0
    assert measure(control, space, [5, 5], 1.0, [found["trace"]]) == {"trace": found["trace"], "known": True}
    again = measure(control, task.program(found["trace"]), [], 1.0, [], again=True)
    assert again["trace"] == found["trace"]


def test_of_some_draws_the_one_is_taken_that_ranks_first(task: KernelTask) -> None:
    """By the size of the first factor of j_1: the largest, or the smallest."""
    space = task.program(opened(task))
    trees = {wanted: Ranker([Tree([0, -1, -1], [4.5, *ends], [1, -1, -1])]) for wanted, ends in ENDS.items()}
    columns = ["j_1.0"]
    for wanted, ranker in trees.items():
        _, trace = chosen(space, range(12), 1.0, [], (columns, ranker.json()))
        assert (decided_in(trace)["j_1"][0] > 4.5) == (wanted == "large")
        _, other = chosen(space, range(12), 1.0, [trace], (columns, ranker.json()))
        assert other != trace, "it is known"


def test_the_latest_are_learnt_of_and_none_of_another_time(task: KernelTask, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, tuner, r = Progress(task, ScheduleSpace(task)), ModelTuner(), random.Random(0)
    _, trace = chosen(task.program(opened(task)), [1], 1.0, [])
    good = Record(task.key, task.machine, 1, trace, (0.9, 0.8, 0.95), 0.001)
    for record in (*[good] * 4, replace(good, trace="te.schedule @task {\n  te.forgotten\n}")):
        kernel.take(record)
    assert kernel.tried == 5 and len(kernel.measured) == 4
    monkeypatch.setattr(tuners, "LEARNT", 3)
    monkeypatch.setattr(tuners, "REMEMBERED", 2)
    assert {len(c.seeds) for c in tuner.candidates(kernel, r, 8)} == {1} and tuner.ranking is None
    monkeypatch.setattr(tuners, "REMEMBERED", 3)
    drawn = tuner.candidates(kernel, r, 8)
    assert tuner.ranking is not None
    assert [len(c.seeds) for c in drawn] == [4, 4, 4, 1] * 2
    assert {c.space for c in drawn} == {trace}, "all are around the best"
    knobs = opened(task).count("knob")
    assert [c.share * knobs for c in drawn[:4]] == [min(n, knobs) for n in (2, 4, 2, 10)]


def test_a_grid_has_each_configuration_once(task: KernelTask) -> None:
    kernel, tuner, r = Progress(task, ScheduleSpace(task)), TUNERS["grid"](), random.Random(0)
    found: list[int | None] = []
    while batch := tuner.candidates(kernel, r, 7):
        found += [c.index for c in batch]
    assert found == list(range(kernel.space.size)) and kernel.space.size > 20
    space = task.program(opened(task))
    traces = {chosen(space, [], 1.0, [], index=n)[1] for n in range(0, kernel.space.size, 5)}
    assert len(traces) == -(-kernel.space.size // 5)


def test_children_have_the_knobs_of_fast_parents(task: KernelTask) -> None:
    kernel, tuner, r = Progress(task, ScheduleSpace(task)), GeneticTuner(4), random.Random(0)
    space = task.program(opened(task))
    assert all(c.space == opened(task) for c in tuner.candidates(kernel, r, 8)), "there are no parents yet"
    for n, index in enumerate((5, kernel.space.size - 3, 9, kernel.space.size - 7, 1, 2, 3)):
        _, trace = chosen(space, [], 1.0, [], index=index)
        kernel.take(Record(task.key, task.machine, 1, trace, (n + 1.0, n + 0.9, n + 1.1), 0.001))
    fast = kernel.measured[:4]
    children = tuner.candidates(kernel, r, 40)
    for child in children:
        decided = decided_in(child.space)
        assert decided.keys() == fast[0].decided.keys() and len(child.seeds) == 1 and child.share < 0.2
        for knob, numbers in decided.items():
            assert numbers in [p.decided[knob] for p in fast]
    assert len({c.space for c in children}) > 4, "some are none of the parents"


def test_draws_of_the_whole_space(task: KernelTask) -> None:
    kernel = Progress(task, ScheduleSpace(task))
    drawn = TUNERS["random"]().candidates(kernel, random.Random(0), 20)
    assert len({c.seeds for c in drawn}) == 20 and {(c.space, c.share) for c in drawn} == {(opened(task), 1.0)}


def test_losses_are_known_by_name() -> None:
    with pytest.raises(ValueError, match="the loss is one of rank, rank-binary, reg, not 'hinge'"):
        ModelTuner("hinge")


def test_refused_draws_are_passed_over(task: KernelTask, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(module: Any, context: Any, passes: Any) -> None:
        if passes[0].seed % 2:
            raise InputError(f"seed {passes[0].seed} is odd")
        run_pipeline(module, context, passes)

    space = task.program(opened(task))
    monkeypatch.setattr(measuring, "run_pipeline", run)
    assert chosen(space, [1, 2, 3], 1.0, [])[1] == chosen(space, [2], 1.0, [])[1]
    with pytest.raises(InputError, match="seed 3 is odd"):
        chosen(space, [1, 3], 1.0, [])


def test_constants_take_the_place_of_random_numbers(task: KernelTask, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def looked(control: Any, candidate: Any, inputs: dict[str, Any], rounds: int) -> Any:
        seen.extend(inputs.values())
        return (1.0, 1.0, 1.0), 1.0

    monkeypatch.setattr(measuring, "timed", looked)
    text = task.program(task.schedule)
    values = np.arange(768, dtype=np.float32).reshape(8, 96)
    measure(text, text, [], 1.0, [], constants={"0": values.tolist()})
    np.testing.assert_array_equal(seen[0], values)


def test_what_is_hopeless_at_first_sight_is_not_timed(task: KernelTask, monkeypatch: pytest.MonkeyPatch) -> None:
    text, times = task.program(task.schedule), iter([1.0, 9.5, 6.5, 1.0, 5.5, 1.0, 40.0, 1.1])
    results = {"y": np.zeros(3, np.float32)}

    def first_run(program: Any, inputs: Any) -> Any:
        return results, next(times)

    def looked(control: Any, candidate: Any, inputs: Any, rounds: int) -> Any:
        return (0.9, 0.8, 1.0), 0.5

    monkeypatch.setattr(measuring, "_results", first_run)
    monkeypatch.setattr(measuring, "timed", looked)
    first = measure(text, text, [], 1.0, [])
    assert (first["ratio"], first["seconds"]) == ((6.5,) * 3, 6.5)
    for _ in range(2):
        assert measure(text, text, [], 1.0, [])["ratio"] == (0.9, 0.8, 1.0), "the second run tells"


def test_wrong_results_are_told(task: KernelTask) -> None:
    (other,) = tasks(kernel("f", "mulf"))
    found = measure(other.program(other.schedule), task.program(task.schedule), [], 1.0, [])
    assert "ratio" not in found
    assert found["wrong"].startswith("output 'arg1'[0, 0] is ") and "of 768 elements" in found["wrong"]


def test_what_is_refused_raises(task: KernelTask) -> None:
    space = task.program(task.schedule.replace("te.unroll %ji", "te.unroll %j"))
    with pytest.raises(LaminaError, match="stands for no loop any more"):
        measure(task.program(task.schedule), space, [], 1.0, [])


ENDS = {"large": (1.0, 0.0), "small": (0.0, 1.0)}
"""The cost of what is small and of what is large, where a wish is the cheaper one."""


class Ticking:
    """A program that does nothing but move a clock."""

    def __init__(self, clock: list[int], ticks: int, output: Any) -> None:
        self.clock, self.ticks, self.output, self.runs = clock, ticks, output, 0

    def check(self, inputs: dict[str, Any]) -> list[Any]:
        return list(inputs.values())

    def outputs(self, arrays: list[Any]) -> list[Any]:
        return [self.output]

    def bases(self, inputs: list[Any], outputs: list[Any]) -> list[int]:
        return []

    def run_on(self, bases: list[int], first: int = 0, last: int | None = None) -> None:
        assert self.output.view(np.uint8).all(), "memory is there before time is taken"
        if last is None:
            self.clock[0] += self.ticks
            self.runs += 1


@pytest.mark.parametrize("ticks, runs", [(2000, 3), (1100, 6), (1000, 10), (300, 10)])
def test_the_slower_a_candidate_is_the_fewer_runs_it_gets(
    ticks: int, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them is not timed."""
    clock = [0]
    monkeypatch.setattr(measuring, "perf_counter_ns", lambda: clock[0])
    output = np.zeros(4, np.float32)
    control: Any = Ticking(clock, 1000, output)
    candidate: Any = Ticking(clock, ticks, output)
    ratio, seconds = timed(control, candidate, {"x": np.zeros(4, np.float32)}, 9)
    assert candidate.runs == control.runs == runs
    assert (ratio, seconds) == ((ticks / 1000,) * 3, ticks / 1e9)


def test_intervals_of_medians_hold_them() -> None:
    r = np.random.default_rng(0)
    for count in (6, 9, 31):
        inside = 0
        for _ in range(400):
            median, low, high = interval(list(r.normal(1.0, 0.1, count)))
            assert low <= median <= high
            inside += low <= 1.0 <= high
        assert inside >= 0.93 * 400, (count, inside)
    assert interval([3.0, 1.0, 2.0]) == (2.0, 1.0, 3.0)


# -- in processes of their own -------------------------------------------------------------------------------------


def sabotage(task: KernelTask, count: int) -> Counter[str]:
    """The kinds of the records of bad candidates."""
    candidates = [Candidate(task, task.schedule, (seed,)) for seed in range(count)]
    with Runner(2, seconds=1.5, function="kernel_measurements:sabotaged") as running:
        records = list(running.measured(candidates))
    kinds: Counter[str] = Counter()
    for record in records:
        assert record is not None and record.ratio is None and "\n" not in record.error
        known = [*SABOTAGE, "wrong: "]
        kinds[next((k for k in known if record.error.startswith(k)), record.error)] += 1
    return kinds


@pytest.mark.slow
@pytest.mark.usefixtures("in_place_of_measure")
def test_bad_candidates_end_as_records(task: KernelTask) -> None:
    kinds = sabotage(task, 6)
    memory = [k for k in kinds if "memory" in k.lower()]
    assert len(memory) == 1
    assert set(kinds) - set(memory) == {*SABOTAGE, "wrong: "} - {"memory"}


@pytest.mark.long
@pytest.mark.usefixtures("in_place_of_measure")
def test_a_hundred_bad_candidates_are_survived(task: KernelTask) -> None:
    kinds = sabotage(task, 100)
    assert kinds.total() == 100 and len(kinds) == 6


@pytest.mark.slow
@pytest.mark.usefixtures("in_place_of_measure")
@pytest.mark.parametrize("learnt", [4, pytest.param(10000, marks=pytest.mark.long)])
def test_the_best_is_found_and_measured_twice(learnt: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Faked(Runner):
        def __init__(self, workers: int, seconds: float) -> None:
            super().__init__(workers, seconds, function="kernel_measurements:by_factor")

    monkeypatch.setattr(kernel_search, "Runner", Faked)
    monkeypatch.setattr(kernel_search, "EXHAUSTED", 10)
    monkeypatch.setattr(tuners, "LEARNT", learnt)
    made: list[ModelTuner] = []

    def tuner() -> ModelTuner:
        made.append(ModelTuner())
        return made[-1]

    (task,) = tasks(kernel("f").replace("  te.unroll %ji\n", ""))
    task = task.with_share({"f": 1.0})
    kept: list[Record] = []
    (found,) = search([task], Budget(60.0), kept.append, seed=1, workers=2, tuner=tuner)
    assert (made[0].ranking is not None) == (learnt == 4)
    assert found.tried >= 12, "all there are, or nearly"
    assert found.best is not None and found.best.ratio == pytest.approx((0.55, 0.54, 0.56))
    # Twice: as one of many, and again, when it looked less good. That is what counts.
    twice = [r.ratio[0] for r in kept if r.trace == found.best.trace and r.ratio is not None]
    assert twice == pytest.approx([0.5, 0.55])
    first = Counter(r.trace for r in kept)
    assert max(first.values()) == 2
    assert all(r.machine == task.machine and r.threads == 1 and r.task == task.key for r in kept)
    # What is known is neither measured again nor forgotten.
    more: list[Record] = []
    (again,) = search([task], Budget(60.0), more.append, seed=2, known=kept)
    assert not {r.trace for r in more} & {r.trace for r in kept}
    assert again.best == found.best
    few: list[Record] = []
    (found,) = search([task], Budget(60.0, trials=8), few.append, seed=3)
    assert found.tried == 8


@pytest.mark.slow
@pytest.mark.usefixtures("in_place_of_measure")
def test_what_fails_is_recorded_and_the_search_goes_on(task: KernelTask, monkeypatch: pytest.MonkeyPatch) -> None:
    class Faked(Runner):
        def __init__(self, workers: int, seconds: float) -> None:
            super().__init__(workers, seconds, function="kernel_measurements:refused")

    monkeypatch.setattr(kernel_search, "Runner", Faked)
    monkeypatch.setattr(kernel_search, "EXHAUSTED", 4)
    kept: list[Record] = []
    (found,) = search([task], Budget(60.0, trials=12), kept.append, workers=2)
    assert found.tried == found.failed == len(kept) == 12 and found.best is None
    assert {r.error for r in kept} == {"refusal: reorder names a loop twice"}
    (found,) = search([task], Budget(60.0, trials=40, early_stopping=10), kept.append, workers=2)
    assert 10 <= found.tried <= 16, "a batch is finished"


def test_small_shares_are_not_worth_a_candidate(task: KernelTask) -> None:
    assert search([replace(task, share=0.001)], Budget(5.0), lambda _: None) == []


# -- the command ---------------------------------------------------------------------------------------------------

DENSE = """func.func @main(%x: tensor<16x64xf32>, %w: tensor<48x64xf32>) -> tensor<16x48xf32> {
  %y = relay.nn.dense %x, %w : (tensor<16x64xf32>, tensor<48x64xf32>) -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}
"""


def command(*words: str | Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return cli.run([str(w) for w in words], out, err), out.getvalue(), err.getvalue()


@pytest.mark.slow
def test_a_model_is_searched_and_compiled_with_what_was_found(tmp_path: Path) -> None:
    model, records = tmp_path / "dense.mlir", tmp_path / "r.jsonl"
    model.write_text(DENSE)
    status, out, err = command("tune", model, "-o", records, "--minutes", "0.02", "--threads", "1")
    assert status == 0, err
    assert "fused_nn_matmul" in out and out.endswith(f"{records}\n")
    found, notes = read_records(records)
    assert found and not notes
    plain, ours = (lamina.compile(str(model), threads=1, records=r) for r in (None, records))
    # The texts reproduce, the records being all that is added.
    ours.save_texts(tmp_path / "texts")
    status, again, err = run_opt_tool([str(tmp_path / "texts" / "relay.mlir"), "-p", ours.pipeline])
    assert status == 0 and again == (tmp_path / "texts" / "llvm.mlir").read_text(), err
    r = np.random.default_rng(0)
    arrays = {p.name: r.standard_normal(p.shape).astype(np.float32) for p in plain.inputs}
    for a, b in zip(plain.run(arrays).values(), ours.run(arrays).values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


class Terminal(io.StringIO):
    """A stream that says that somebody looks."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_how_far_the_search_is(task: KernelTask, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(tune, "monotonic", lambda: clock[0])
    silent, err = io.StringIO(), Terminal()
    gain, slow = (Record(*task.place, "te.schedule", (r, r - 0.1, r + 0.1), 0.001) for r in (0.8, 1.2))
    for stream in (silent, err):
        kernel = Progress(task, ScheduleSpace(task))
        clock[0] = 100.0
        teller = tune.Teller(stream, 90.0)
        for record in (slow, gain, slow):
            kernel.take(record)
            clock[0] += 10.0
            teller(kernel, record)
        teller.live.clear()
    assert silent.getvalue() == "f: 0.800 [0.700..0.900] after 2\n"
    said = err.getvalue().split("\r")
    assert said[1] == "1 candidates, 6 a minute; 0 kernels faster, the model at 1.000 of its time; 1:20 left"
    assert said[-2].isspace() and said[-1] == "", "the last line is cleared"


@pytest.mark.parametrize(
    "words, said",
    [
        (("-o", "r.json", "--minutes", "1"), "--minutes is for a search"),
        (("-o", "r.jsonl", "--rounds", "5"), "--rounds is for choice files"),
        (("-o", "r.jsonl", "--minutes", "0"), "a search takes some time, not 0 s"),
        (("-o", "r.json", "--early-stopping", "9"), "--early-stopping is for a search"),
        (("-o", "r.jsonl", "--trials", "0"), "--trials is at least 1, not 0"),
        (("-o", "r.jsonl", "--tuner", "genetics"), "no tuner is called 'genetics'"),
        (("-o", "none/r.jsonl"), "cannot write"),
    ],
)
def test_mistakes_with_searches_end_in_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    model = tmp_path / "dense.mlir"
    model.write_text(DENSE)
    placed = [str(tmp_path / w) if w.endswith((".json", ".jsonl")) else w for w in words]
    status, _, err = command("tune", model, *placed)
    last = err.strip().split("\n")[-1]
    assert status != 0 and said in last and last.startswith("error: ")
    assert not list(tmp_path.glob("*.json*"))
