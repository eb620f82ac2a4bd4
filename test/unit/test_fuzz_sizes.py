"""Random programs with extents that are names: one compilation, several sizes, and what is wrong at one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from lamina.debugging.campaign import Settings, Tally, as_json, of_json, table
from lamina.debugging.fuzz_case import Report, run_seed
from lamina.debugging.generators.draw import Draw, Sizes
from lamina.debugging.generators.drawn import Drawn, Generator, drawn, plan_of
from lamina.debugging.generators.open_extents import MOST_ELEMENTS, STAND_INS, OpenGraph
from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.stored_case import StoredCase
from lamina.dialects.index.symbol_ranges import parse_range
from lamina.driver.api import Executable

SEEDS = list(
    islice(
        (s for s in Settings(0, kinds=(Generator.SYMBOLS,), sizes=(Sizes.TINY,)).seeds() if not plan_of(s).states), 14
    )
)
"""Programs without states: `test_fuzz_states.py` has those with."""


@pytest.fixture(scope="module")
def seed() -> int:
    """A seed whose program is run at every size, with floats among its results."""
    for seed in SEEDS:
        report = Report.of_json(run_seed(seed))
        if report.outcome.kind is Kind.SAME and report.ran == 5 and not report.special:
            return seed
    raise AssertionError("no program was run")


@cache
def case_of(seed: int) -> Drawn:
    return drawn(seed)


def test_a_seed_decides_everything() -> None:
    for seed in SEEDS[:3]:
        one, other = drawn(seed), drawn(seed)
        assert one.source == other.source and one.ranges == other.ranges
        for run, again in zip(one.runs, other.runs, strict=True):
            assert run.sizes == again.sizes
            assert all(run.inputs[n].tobytes() == again.inputs[n].tobytes() for n in run.inputs)


def test_sizes_are_within_their_ranges_and_of_every_kind() -> None:
    met = dict.fromkeys(("least", "greatest", "one", "prime", "power of two"), 0)
    for seed in SEEDS:
        case = case_of(seed)
        bounds = {name: parse_range(said) for name, said in case.ranges.items()}
        assert len({tuple(r.sizes.values()) for r in case.runs}) == len(case.runs) > 1
        for run in case.runs:
            assert run.sizes.keys() == bounds.keys()
            for name, size in run.sizes.items():
                assert bounds[name].holds(size)
                met["least"] += size == bounds[name].min
                met["greatest"] += size == bounds[name].max
                met["one"] += size == 1
                met["prime"] += size > 1 and all(size % k for k in range(2, size))
                met["power of two"] += size & (size - 1) == 0
    assert min(met.values()) > 3


def test_inputs_have_the_extents_that_the_model_names() -> None:
    for seed in SEEDS:
        case = case_of(seed)
        model = onnx.ModelProto.FromString(case.source)
        weights = {t.name for t in model.graph.initializer}
        for run in case.runs:
            declared = {i.name: i.type.tensor_type.shape.dim for i in model.graph.input if i.name not in weights}
            assert declared.keys() == run.inputs.keys()
            for name, dims in declared.items():
                shape = tuple(run.sizes[d.dim_param] if d.dim_param else d.dim_value for d in dims)
                assert run.inputs[name].shape == shape


def test_places_are_within_what_the_smallest_name_leaves() -> None:
    info = onnx.helper.make_tensor_value_info
    inputs = {"x": np.zeros(5, np.float32), "i": np.arange(5), "k": np.array([4])}
    nodes = [("Gather", ["x", "i"], ["y"]), ("TopK", ["x", "k"], ["z", "p"])]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(*n) for n in nodes],
        "g",
        [info("x", 1, ["n"]), info("i", 7, ["n"]), info("k", 7, [1])],
        [],
    )
    found = OpenGraph(onnx.helper.make_model(graph), inputs, set(), set())
    for size in (1, 3):
        given = found.at({"n": size}, Draw(0, Sizes.TINY))
        assert given["x"].shape == given["i"].shape == (size,)
        assert given["i"].max() < size and 1 <= given["k"][0] <= max(size - 1, 1)


def test_no_shape_has_the_number_that_stood_for_a_name() -> None:
    for seed in SEEDS:
        model = onnx.ModelProto.FromString(case_of(seed).source)
        weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        for node in model.graph.node:
            if node.op_type in ("Reshape", "Expand") and node.input[1] in weights:
                assert weights[node.input[1]].max(initial=0) not in STAND_INS[plan_of(seed).sizes]


def test_one_program_is_run_at_five_sizes(seed: int, tmp_path: Path) -> None:
    report = Report.of_json(run_seed(seed, str(tmp_path)))
    assert (report.kind, report.outcome.kind, report.ran, report.refused) == ("symbols", Kind.SAME, 5, 0)
    stored = StoredCase.read(tmp_path)
    assert stored.ranges == case_of(seed).ranges
    assert {n: a.shape for n, a in stored.inputs.items()} == {
        n: a.shape for n, a in case_of(seed).runs[0].inputs.items()
    }


def other(a: Any) -> Any:
    """Another value for each element."""
    return ~a if a.dtype == bool else a + np.ones((), a.dtype)


def changed(monkeypatch: pytest.MonkeyPatch, seed: int, change: Callable[[Executable, dict[str, Any]], None]) -> int:
    """Let programs do something else in the third run of a case: its number."""
    run, third = Executable.run_on, case_of(seed).runs[2].inputs

    def wrong(self: Executable, inputs: Mapping[str, Any], out: Any) -> dict[str, Any]:
        found = run(self, inputs, out)
        if all(inputs[n].shape == a.shape for n, a in third.items()):
            change(self, found)
        return found

    monkeypatch.setattr(Executable, "run_on", wrong)
    return 2


def test_a_wrong_result_at_one_size_is_found_and_kept(
    seed: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def off(_: Executable, results: dict[str, Any]) -> None:
        results.update({name: other(a) for name, a in results.items()})

    number = changed(monkeypatch, seed, off)
    report = Report.of_json(run_seed(seed, str(tmp_path)))
    run = case_of(seed).runs[number]
    assert report.outcome.kind is Kind.MISMATCH and report.ran == number
    assert report.outcome.said.endswith(", at " + " ".join(f"{n}={size}" for n, size in run.sizes.items()))
    stored = StoredCase.read(tmp_path)
    assert stored.outcome == report.outcome
    assert all(stored.inputs[n].tobytes() == a.tobytes() for n, a in run.inputs.items())


def test_what_is_compiled_in_a_run_is_a_fault(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def compiles(executable: Executable, _: dict[str, Any]) -> None:
        for instrument in executable.context.instruments:
            getattr(instrument, "ran", {})["relay-fuse-ops"] = 99

    changed(monkeypatch, seed, compiles)
    outcome = Report.of_json(run_seed(seed)).outcome
    assert outcome.kind is Kind.INTERNAL_ERROR and "a run has compiled something" in outcome.said


def test_a_size_is_run_again_after_the_others(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run, shapes = Executable.run_on, list[Any]()
    first = {n: a.shape for n, a in case_of(seed).runs[0].inputs.items()}

    def off(self: Executable, inputs: Mapping[str, Any], out: Any) -> dict[str, Any]:
        shapes.append({n: a.shape for n, a in inputs.items()})
        found = run(self, inputs, out)
        return found if shapes.count(first) < 3 else {n: other(a) for n, a in found.items()}

    monkeypatch.setattr(Executable, "run_on", off)
    outcome = Report.of_json(run_seed(seed)).outcome
    assert outcome.kind is Kind.MISMATCH and outcome.said.startswith("the first run again")


def test_tables_say_how_many_programs_for_ranges_were_run() -> None:
    tally = Tally()
    same, refusal = Outcome(Kind.SAME), Outcome(Kind.REFUSAL, "needs n >= 2")
    tally.add(Report(0, "symbols", "tiny", False, same, ran=4, refused=1, left_out=['node "n1": needs n == 47']))
    tally.add(Report(1, "symbols", "tiny", False, refusal, left_out=['node "n2": needs n == 40']))
    tally.add(Report(2, "layout", "tiny", False, same))
    for each in (tally, of_json(as_json(tally))):
        text = table(each, [], [])
        assert "for ranges of sizes: 2 programs, 1 run at 4 sizes (1 sizes refused)" in text
        assert "nodes left out that are refused for ranges: 2\n  2 x node '_': needs n == #" in text
        assert "refusals: 1 graphs, 1 different\n  1 x refusal: needs n >= 2" in text


def test_sizes_are_left_out_at_which_inputs_are_too_large() -> None:
    """Ops of the first graph of this seed need extents of hundreds, of which an input has three: it is drawn anew."""
    runs = drawn(71244, "symbols").runs
    assert runs and all(sum(a.size for a in run.inputs.values()) <= MOST_ELEMENTS for run in runs)


def test_what_oracles_compute_one_by_one_counts_more() -> None:
    """Samples of a grid of n x n x n places, of which a hundred would take half a minute a run."""
    case = drawn(437526353482, "symbols")
    assert "GridSample" in case.operators
    assert all(run.sizes["n"] < 60 for run in case.runs)


def test_a_graph_whose_values_are_large_at_all_sizes_is_drawn_anew() -> None:
    """Places that the first graph of this seed speaks of need extents of 992, and one of its values has two of them."""
    case = drawn(1826285014, "symbols")
    assert case.runs and all(max(run.sizes.values()) < 100 for run in case.runs)
