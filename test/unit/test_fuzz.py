"""Random programs: what a seed decides, what the table covers, what is compared, and what is found."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from lamina.cli.command import run
from lamina.debugging.campaign import Part, Settings, Tally, as_json, of_json, operators_named, table
from lamina.debugging.comparison import IN_CHAINS, IN_CHOICES, MISSED, MORE_RUNS, MOST_RUNS, Comparer
from lamina.debugging.engines import SATURATING
from lamina.debugging.firing import FiringInstrument
from lamina.debugging.fuzz_case import Report, run_seed
from lamina.debugging.generators.draw import Draw, Sizes
from lamina.debugging.generators.drawn import drawn, plan_of
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph, Tensor
from lamina.debugging.generators.operator_graphs import likely, opset_with, opsets
from lamina.debugging.generators.operators.contracting import begins_in_padding, sees_nothing
from lamina.debugging.generators.operators.table import rows
from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.stored_case import StoredCase
from lamina.debugging.ways import ELSEWHERE, NATIVE, Compiled, Interpreted, Program, by_oracles, results_of
from lamina.driver.stage_texts import StageTexts
from lamina.errors import InputError, InternalError, LaminaError, UnsupportedError, UsageError
from lamina.frontends.onnx.registry import converters
from lamina.ir.instrument import PassInfo


def test_every_imported_operator_has_a_row() -> None:
    missing = sorted(set(converters()) - set(rows()))
    assert not missing, "frontends/onnx imports them, debugging/generators/operators draws none"


@pytest.mark.parametrize("key", sorted(rows()), ids=lambda k: k[1])
def test_every_row_draws_valid_graphs_of_its_operator(key: tuple[str, str]) -> None:
    domain, name = key
    made = 0
    for seed in range(12):
        draw = Draw(seed, list(Sizes)[seed % 3])
        graph = OnnxGraph(draw, opset_with(draw, domain, name))
        try:
            rows()[key](graph, name)
        except CannotDraw:
            continue
        model = graph.model()
        assert graph.operators()[f"{domain}.{name}" if domain else name]
        assert {i.name for i in model.graph.input} >= set(graph.inputs)
        made += 1
    assert made >= 4


def test_every_operator_is_drawn_about_as_often() -> None:
    """Also one that few operator sets have: 2,500 random graphs have each at least 60 times."""
    graphs: dict[int, float] = defaultdict(float)
    for key in rows():
        for opset, share in opsets(*key).items():
            graphs[opset] += share / len(rows())
    nodes = dict.fromkeys(rows(), 1 / len(rows()))
    for opset, share in graphs.items():
        names, weights = likely(opset)
        for key, weight in zip(names, weights, strict=True):
            nodes[key] += share * 9 * weight / sum(weights)  # 9 more nodes
    assert min(nodes.values()) > 60 / 2500
    assert max(nodes.values()) < 3 * min(nodes.values())


def test_a_seed_decides_everything() -> None:
    for seed in range(12):
        one, other = drawn(seed), drawn(seed)
        assert one.source == other.source
        assert one.inputs.keys() == other.inputs.keys()
        assert all(one.inputs[n].tobytes() == other.inputs[n].tobytes() for n in one.inputs)


def test_seeds_of_one_kind_are_those_of_all() -> None:
    """A seed means the same case whatever else was asked for, so that it can be made again alone."""
    seeds = list(Settings(0, graphs=10, kinds=("layout",), sizes=("real",)).seeds())
    assert len(seeds) == 10
    assert {(plan_of(s).kind, plan_of(s).sizes) for s in seeds} == {("layout", "real")}


def test_seeds_of_an_operator_are_those_whose_graphs_have_it() -> None:
    named = operators_named("RotaryEmbedding")
    assert sorted(named) == ["RotaryEmbedding", "com.microsoft.RotaryEmbedding"]
    seeds = list(Settings(0, graphs=2, operators=frozenset(named)).seeds())
    assert seeds == [s for s in range(seeds[-1] + 1) if drawn(s).operators.keys() & set(named)]


@pytest.mark.parametrize(
    "found, behind",
    [
        ({"kernel_shape": [3, 1], "pads": [1, 0, 1, 0], "strides": [3, 3]}, True),
        ({"kernel_shape": [2, 2], "strides": [1, 2]}, False),
        ({"kernel_shape": [1, 2], "dilations": [1, 2], "strides": [1, 4]}, False),
        ({"kernel_shape": [1, 2], "dilations": [1, 1], "strides": [2, 1]}, True),
    ],
)
def test_a_pool_whose_last_window_would_begin_behind_the_image(found: dict[str, Any], behind: bool) -> None:
    assert begins_in_padding(Tensor("x", "float32", (1, 2, 2, 3)), found) == behind


@pytest.mark.parametrize("width, nothing", [(1, True), (2, False)])
def test_a_pool_whose_taps_are_all_beside_the_image(width: int, nothing: bool) -> None:
    found = {"kernel_shape": [2, 2], "dilations": [1, 2], "pads": [1, 1, 1, 1], "strides": [2, 1]}
    assert sees_nothing(Tensor("x", "float32", (1, 3, 2, width)), found) == nothing


def test_programs_that_are_only_compiled_are_drawn_where_they_are_asked_for() -> None:
    assert list(Settings(0, graphs=3, kinds=("compiled",)).seeds()) == [0, 1, 2]
    assert "compiled" not in {plan_of(s).kind for s in range(50)}
    cases = [drawn(s, "compiled") for s in range(40)]
    assert [c.source for c in cases] == [drawn(s, "compiled").source for s in range(40)]
    text = b"".join(c.source for c in cases).decode()
    assert all(f"x{t}>" in text for t in ("bf16", "f16", "f32", "f64"))
    assert all(f"relay.nn.{op}" in text for op in ("dense", "batch_matmul", "conv2d", "softmax"))


def test_a_program_is_compiled_for_a_machine_drawn_by_its_seed() -> None:
    reports = [Report.of_json(run_seed(s, kind="compiled")) for s in range(8)]
    assert {r.outcome.kind for r in reports} == {Kind.SAME}
    assert len({r.pair for r in reports}) > 3
    assert reports[0].pair == Report.of_json(run_seed(0, kind="compiled")).pair


def test_an_error_of_the_compiler_is_a_fault_of_a_program_that_is_only_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any) -> str:
        raise InternalError("no")

    monkeypatch.setattr(StageTexts, "get", fail)
    assert Report.of_json(run_seed(0, kind="compiled")).outcome.kind == Kind.INTERNAL_ERROR


# -- comparisons -----------------------------------------------------------------------------------------------------


def one_node(op: str, shape: list[int], *ops: str) -> bytes:
    names = ["x", *(f"v{n}" for n in range(len(ops))), "y"]
    nodes = [helper.make_node(o, [names[n]], [names[n + 1]]) for n, o in enumerate((op, *ops))]
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("x", "y")]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def comparer_of(program: Program) -> tuple[Comparer, Any]:
    expected, noisy = by_oracles(program)
    return Comparer(["y"], noisy=noisy), expected


def test_a_tie_of_inexact_values_is_not_compared() -> None:
    """exp(0.6931472) is 2 up to roundings: whether its floor is 1 or 2 says nothing. That of exp(1) does."""
    x = np.array([np.log(2.0), 1.0], np.float32)
    comparer, expected = comparer_of(Program(one_node("Exp", [2], "Floor"), True, {"x": x}))
    (y,) = expected.values()
    assert comparer.difference({"y": np.array([3.0 - y[0], y[1]], np.float32)}, expected) == ""
    assert comparer.doubtful == 1
    assert "'y'[1]" in comparer.difference({"y": np.array([y[0], 1.0], np.float32)}, expected)


def test_a_tie_beside_what_only_the_machine_runs_is_not_compared() -> None:
    """Where shapes depend on values the oracles run piece by piece, with roundings as well."""
    model = onnx.ModelProto.FromString(one_node("Exp", [2], "Floor"))
    model.graph.node.append(helper.make_node("NonZero", ["x"], ["z"]))
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.INT64, None))
    x = np.array([np.log(2.0), 1.0], np.float32)
    expected, noisy = by_oracles(Program(model.SerializeToString(), True, {"x": x}))
    comparer = Comparer(["y", "z"], noisy=noisy)
    assert comparer.difference({**expected, "y": np.array([3.0 - expected["y"][0], 2.0], np.float32)}, expected) == ""
    assert comparer.doubtful == 1
    assert "'y'[1]" in comparer.difference({**expected, "y": expected["y"] - np.float32(1)}, expected)


def test_an_exact_tie_that_every_rounding_leaves_is_not_compared() -> None:
    """What is 1 at a tie alone and 0 on both sides of it is decided by roundings, though these all give the same."""
    comparer = Comparer(["y"], noisy=lambda seed: [np.array([1, 5] if seed is None else [0, 5], np.uint8)])
    exact = {"y": np.array([1, 5], np.uint8)}
    assert comparer.difference({"y": np.array([0, 5], np.uint8)}, exact) == ""
    assert "'y'[1]" in comparer.difference({"y": np.array([0, 4], np.uint8)}, exact)


def test_an_infinity_in_one_order_that_is_no_number_in_another_is_not_compared() -> None:
    """As 0 times an infinity of a product of three, of which any two may be multiplied first. A finite one is wrong."""
    nan, inf = np.array([np.nan, np.inf], np.float32)
    comparer = Comparer(["y"], noisy=lambda seed: [np.array([inf if seed == 1 else nan, nan], np.float32)])
    exact = {"y": np.array([nan, nan], np.float32)}
    assert comparer.difference({"y": np.array([inf, nan], np.float32)}, exact) == ""
    assert "'y'[1]" in comparer.difference({"y": np.array([inf, inf], np.float32)}, exact)


def test_what_few_roundings_do_not_explain_is_asked_of_more() -> None:
    asked: list[int | None] = []

    def noisy(seed: int | None) -> list[Any]:
        asked.append(seed)
        return [np.array([seed == 17, 0], np.uint8)]

    comparer, exact = Comparer(["y"], noisy=noisy), {"y": np.zeros(2, np.uint8)}
    assert comparer.difference({"y": np.array([1, 0], np.uint8)}, exact) == ""
    assert asked == [None, *range(MORE_RUNS)]
    assert "'y'[1]" in comparer.difference({"y": np.array([0, 1], np.uint8)}, exact)
    assert len(asked) == MORE_RUNS + 1


def test_roundings_are_asked_for_as_long_as_they_explain_more() -> None:
    """Element n is another one in run n alone, as a sum of many ties is; the last two are always the same."""
    asked: list[int | None] = []
    exact, step = {"y": np.zeros(MOST_RUNS + 2, np.uint8)}, np.eye(MOST_RUNS + 2, dtype=np.uint8)

    def noisy(seed: int | None) -> list[Any]:
        asked.append(seed)
        return [exact["y"] if seed is None else step[seed]]

    comparer = Comparer(["y"], noisy=noisy)
    assert comparer.difference({"y": 1 - step[-1] - step[-2]}, exact) == ""
    assert (len(asked), comparer.doubtful) == (MOST_RUNS + 1, MOST_RUNS)
    assert f"'y'[{MOST_RUNS}]" in comparer.difference({"y": exact["y"] + np.uint8(1)}, exact)


@pytest.mark.parametrize("shown, missed, compared", [(4, IN_CHAINS, False), (4, MISSED, True), (3, IN_CHAINS, True)])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
def test_of_steps_that_decide_others_a_few_may_be_missed(shown: int, missed: float, compared: bool, dtype: str) -> None:
    """Of five numbers a step off, roundings show four: what is behind the same tie is the fifth."""
    exact, off = {"y": np.full(9, 100, dtype)}, np.array([1] * 5 + [0] * 4, dtype)
    seen = off * (np.arange(9) < shown)
    comparer = Comparer(["y"], noisy=lambda seed: [exact["y"] + seen * (seed == 3)], missed=missed)
    assert bool(comparer.difference({"y": exact["y"] + off}, exact)) == compared


def test_the_integer_that_nan_becomes_is_compared_with_our_own_alone() -> None:
    """ONNX says nothing of it; another program has another one. Between our ways to run a model it is one."""
    model = onnx.ModelProto.FromString(one_node("Acos", [2]))
    model.graph.node.append(helper.make_node("Cast", ["y"], ["z"], to=TensorProto.INT32))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("z", TensorProto.INT32, [2]))
    x = np.array([2.0, -1.0], np.float32)
    program = Program(model.SerializeToString(), True, {"x": x})
    expected, noisy = by_oracles(program)
    own, others = Comparer(["z"], noisy=noisy), Comparer(["z"], noisy=results_of(program, others=True))
    for wrong in range(2):
        got: dict[str, Any] = {"z": np.where(np.arange(2) == wrong, expected["z"] ^ 9, expected["z"])}
        assert own.difference(got, expected)
        assert bool(others.difference(got, expected)) == (wrong == 1)


def test_one_of_the_maxima_that_are_alike_may_be_missed() -> None:
    """Of the element that is the greatest here and the one that is so there, roundings show one alone."""
    first, second = np.eye(500, dtype=np.uint8)[:2]
    comparer = Comparer(["y"], noisy=lambda seed: [first * (seed == 3)])
    exact = {"y": np.zeros(500, np.uint8)}
    assert comparer.difference({"y": first + second}, exact) == ""
    assert "'y'[1]" in comparer.difference({"y": second}, exact)
    assert "(499 of 500 elements" in comparer.difference({"y": exact["y"] + np.uint8(1)}, exact)


@pytest.mark.parametrize("missed, compared", [(IN_CHOICES, False), (IN_CHAINS, True)])
def test_of_several_choices_of_another_program_each_may_be_missed(missed: float, compared: bool) -> None:
    """Seed 1713004202: a Hardmax of three rows of saturated values, whose maxima another program has elsewhere."""
    ours, theirs, elsewhere = (np.eye(64, dtype=np.uint8)[[k, k + 1, k]] for k in (0, 20, 40))
    comparer = Comparer(["y"], noisy=lambda seed: [elsewhere if seed == 3 else ours], missed=missed)
    assert bool(comparer.difference({"y": ours}, {"y": theirs})) == compared
    assert comparer.difference({"y": theirs}, {"y": theirs ^ 1})


def test_a_tie_of_exact_values_is_compared() -> None:
    x = np.array([2.0, 2.5], np.float32)
    comparer, expected = comparer_of(Program(one_node("Neg", [2], "Floor"), True, {"x": x}))
    assert comparer.difference({"y": np.array([-3.0, -3.0], np.float32)}, expected)


def test_a_sum_that_cancels_is_what_is_left_of_its_roundings() -> None:
    """0.1 + 0.3 - 0.1 - 0.3 is 0 in one order alone; that of halves in any, and products of them do not cancel."""
    x = np.array([[0.1, 0.3, -0.1, -0.3], [0.5, 1.5, -0.5, -1.5]], np.float32)
    for terms, compared in ((x[:1], False), (x[1:], True)):
        comparer, expected = comparer_of(Program(one_node("ReduceSum", [1, 4], "Floor"), True, {"x": terms}))
        assert expected["y"] == 0
        assert bool(comparer.difference({"y": expected["y"] - 1}, expected)) == compared
    comparer, expected = comparer_of(Program(one_node("ReduceProd", [1, 4], "Ceil"), True, {"x": x[1:]}))
    assert comparer.difference({"y": expected["y"] + 1}, expected)


def test_sums_of_double_precision_round_too() -> None:
    """What is cast back to single precision may be exact there, as zero is, and decided by roundings before."""
    dtype = TensorProto.DOUBLE
    nodes = [
        helper.make_node("Cast", ["x"], ["wide"], to=dtype),
        helper.make_node("MatMul", ["wide", "w"], ["product"]),
        helper.make_node("Floor", ["product"], ["floor"]),
        helper.make_node("Cast", ["floor"], ["y"], to=TensorProto.FLOAT),
    ]
    info = helper.make_tensor_value_info
    weight = numpy_helper.from_array(np.array([[0.1, 1.5], [-0.1, 1.0]]), "w")
    infos = [info("x", TensorProto.FLOAT, [1, 2])], [info("y", TensorProto.FLOAT, [1, 2])]
    graph = helper.make_graph(nodes, "g", *infos, [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    comparer, expected = comparer_of(Program(model.SerializeToString(), True, {"x": np.ones((1, 2), np.float32)}))
    assert expected["y"].tolist() == [[0, 2]]
    assert comparer.difference({"y": np.array([[-1, 2]], np.float32)}, expected) == ""
    assert "'y'[0, 1]" in comparer.difference({"y": np.array([[0, 1]], np.float32)}, expected)


def test_a_tie_of_dequantized_values_is_not_compared() -> None:
    """A product that is added at once is not rounded: a sum between two integers falls either way."""
    arrays = {"a": np.float32(0.02), "b": np.float32(0.07), "c": np.float32(0.04), "z": np.uint8(0)}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "a"], ["left"]),
        helper.make_node("DequantizeLinear", ["w", "b"], ["right"]),
        helper.make_node("Add", ["left", "right"], ["sum"]),
        helper.make_node("QuantizeLinear", ["sum", "c", "z"], ["y"]),
    ]
    infos = [helper.make_tensor_value_info(n, TensorProto.UINT8, s) for n, s in (("x", [256, 1]), ("w", [1, 256]))]
    made = helper.make_tensor_value_info("y", TensorProto.UINT8, [256, 256])
    weights = [numpy_helper.from_array(np.asarray(a), n) for n, a in arrays.items()]
    model = helper.make_model(
        helper.make_graph(nodes, "g", infos, [made], weights), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    whole = np.arange(256, dtype=np.uint8)
    inputs = {"x": whole.reshape(256, 1), "w": whole.reshape(1, 256)}
    comparer, expected = comparer_of(Program(model, True, inputs))
    left, right = (arrays[n].astype(np.float64) * np.arange(256) for n in "ab")
    column, row = left.reshape(256, 1), right.reshape(1, 256)
    for total in (column + row.astype(np.float32), column.astype(np.float32) + row):  # one product is not rounded
        fused = np.minimum(np.rint(total.astype(np.float32) / arrays["c"]), 255).astype(np.uint8)
        assert np.any(fused != expected["y"])
        assert comparer.difference({"y": fused}, expected) == ""
    off = expected["y"].copy()
    off[2, 1] += 1  # 0.11 / 0.04 is no tie
    assert "'y'[2, 1]" in comparer.difference({"y": off}, expected)


def test_nan_and_infinity_stand_in_the_same_places() -> None:
    comparer = Comparer(["y"])
    expected = {"y": np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)}
    assert comparer.difference(expected, expected) == ""
    for n, wrong in enumerate((0.0, -np.inf, 1e30, np.nan)):
        got = expected["y"].copy()
        got[n] = wrong
        assert f"'y'[{n}]" in comparer.difference({"y": got}, expected)


def test_integers_and_types_are_exact() -> None:
    comparer = Comparer(["y"])
    assert "expected 100000" in comparer.difference({"y": np.array([100001])}, {"y": np.array([100000])})
    assert "float64" in comparer.difference({"y": np.zeros(1)}, {"y": np.zeros(1, np.float32)})
    assert "shape" in comparer.difference({"y": np.zeros(1)}, {"y": np.zeros(2)})


def test_single_precision_overflows_in_the_oracles() -> None:
    x = np.array([100.0, 1.0], np.float32)
    found, _ = by_oracles(Program(one_node("Exp", [2]), True, {"x": x}))
    assert np.isinf(found["y"][0]) and np.isclose(found["y"][1], np.e)


# -- passes that fire --------------------------------------------------------------------------------------------------


def test_a_pass_fires_where_the_module_is_another_after_it() -> None:
    fired = FiringInstrument()
    program = Program(one_node("Identity", [4, 8], "Relu", "Relu"), True, {})
    module = program.model.module
    info = PassInfo(0, "canonicalize")
    fired.run_before_pass(module, info)
    fired.run_after_pass(module, info)
    assert not fired.counts
    fired.run_before_pass(module, info)
    relu = next(op for op in module.walk() if op.name == "relay.nn.relu")
    relu.results[0].replace_all_uses_with(relu.operands[0])
    fired.run_after_pass(module, info)
    assert fired.counts == {"canonicalize": 1}
    assert fired.ran == {"canonicalize": 2}


def test_passes_are_counted_by_their_names_in_pipelines() -> None:
    fired = FiringInstrument()
    NATIVE.executable(Program(one_node("Relu", [4, 8], "Relu"), True, {}), [fired])
    assert fired.counts["relay-fuse-ops"] == 1 and fired.counts["tir-vectorize-loop"] == 1
    assert fired.ran["relay-fold-constant"] == 3 and not fired.counts["cpu-winograd"]


# -- campaigns -----------------------------------------------------------------------------------------------------


def test_a_wrong_result_is_a_mismatch_that_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lamina.debugging import fuzz_case

    seeds = Settings(0, kinds=("operators",), sizes=(Sizes.TINY,)).seeds()
    seed = next(s for s in seeds if not plan_of(s).special)
    oracles = fuzz_case.by_oracles

    def off(program: Program) -> Any:
        results, _ = oracles(program)
        return {n: ~a if a.dtype == bool else a + np.ones((), a.dtype) for n, a in results.items()}, None

    monkeypatch.setattr(fuzz_case, "by_oracles", off)
    report = Report.of_json(run_seed(seed, str(tmp_path / "c")))
    assert report.outcome.kind == Kind.MISMATCH
    stored = StoredCase.read(tmp_path / "c")
    assert stored.outcome == report.outcome and stored.seed == seed
    assert onnx.ModelProto.FromString(stored.program).graph.node


def test_tables_name_faults_refusals_operators_and_passes() -> None:
    tally = Tally()
    refusal = Outcome(Kind.REFUSAL, "takes floats, got int64")
    crash = Outcome(Kind.CRASH, "the process died of SIGSEGV")
    for seed, outcome in enumerate((Outcome(Kind.SAME), refusal, crash, crash)):
        tally.add(Report(seed, "operators", "tiny", False, outcome, operators={"Add": 2}, fired={"tir-simplify": 1}))
    text = table(tally, ["Add", "Conv"], ["tir-simplify", "cpu-winograd"])
    assert "1 same, 1 refusal, 0 mismatch, 0 internal error, 2 crash, 0 hang" in text
    assert "2 x crash: the process died of SIGSEGV\n      seeds 2 3" in text
    assert "8 Add" in text and "0 Conv" in text and "4 tir-simplify" in text and "0 cpu-winograd" in text
    assert tally.found == 2 and "faults: 2 graphs, 1 different" in text and "refusals: 1 graphs, 1 different" in text


def test_tables_mark_what_is_below_the_goal_for_so_many_graphs() -> None:
    tally = Tally()
    for seed in range(200):
        named = {"Add": 1} if seed < 3 else {"Mul": 1} if seed < 5 else {}
        tally.add(Report(seed, "operators", "tiny", False, Outcome(Kind.SAME), operators=named))
    text = table(tally, ["Add", "Mul", "Conv"], [])
    assert "operators: 1 of 3 below the goal (<); the goal is 50 in 5,000 graphs, here 2" in text
    assert re.search(r"^<    0 Conv +2 Mul +3 Add$", text, re.M)
    assert text.endswith("faults: none")


def test_programs_that_are_only_compiled_have_no_table_of_operators() -> None:
    tally = Tally()
    tally.add(Report(0, "compiled", "tiny", False, Outcome(Kind.SAME), pair="znver3"))
    text = table(tally, ["Add"], ["tir-simplify"])
    assert "second way: 1 znver3\noutcomes: 1 same" in text and "Add" not in text and "tir-simplify" not in text


def parts_of_a_campaign() -> tuple[Tally, Tally, Tally]:
    """The tallies of two parts and of the whole."""
    crash, refusal = Outcome(Kind.CRASH, "died"), Outcome(Kind.REFUSAL, "takes floats")
    tallies = Tally(), Tally(), Tally()
    for seed, outcome in enumerate((Outcome(Kind.SAME), crash, refusal, crash, refusal)):
        report = Report(seed, "operators", "tiny", False, outcome, "oracles", "threads", {"Add": 2}, {"p": 3}, seed % 2)
        for tally in (tallies[seed > 2], tallies[2]):
            tally.add(report)
    for tally, (first, end) in zip(tallies, ((0, 3), (3, 5), (0, 5)), strict=True):
        tally.parts.append(Part(first, end))
    return tallies


def test_the_tallies_of_parts_add_up_to_that_of_the_whole() -> None:
    one, two, whole = parts_of_a_campaign()
    total = of_json(json.loads(json.dumps(as_json(one))))
    total.add_part(of_json(json.loads(json.dumps(as_json(two)))))
    assert {**as_json(total), "parts": []} == {**as_json(whole), "parts": []}
    known = ["Add", "Mul"], ["p", "q"]
    assert table(total, *known).replace("0 to 2, 3 to 4", "0 to 4") == table(whole, *known)
    with pytest.raises(UsageError, match="of the seeds 3 to 4 some are counted already"):
        total.add_part(two)


def test_cases_of_other_kinds_or_sizes_are_others() -> None:
    both = Part(0, 9)
    assert both.shares(Part(8, 9)) and both.shares(Part(0, 1, ("layout",))) and not both.shares(Part(9, 12))
    assert not Part(0, 9, ("layout",)).shares(Part(0, 9, ("blocks",)))
    assert not Part(0, 9, sizes=("tiny",)).shares(Part(0, 9, ("layout",), ("odd", "real")))


def test_the_command_adds_earlier_parts(tmp_path: Path) -> None:
    one, two, _ = parts_of_a_campaign()
    files = [tmp_path / name for name in ("one.json", "two.json", "sum.json")]
    for tally, file in zip((one, two), files, strict=False):
        file.write_text(json.dumps(as_json(tally)))

    def fuzz(*words: object) -> tuple[int, str, str]:
        out, err = StringIO(), StringIO()
        return run(["fuzz", *map(str, words)], out, err), out.getvalue(), err.getvalue()

    status, out, err = fuzz("--graphs", 0, "--add", files[0], "--add", files[1], "--json", files[2])
    assert (status, err) == (0, ""), "no fault in this part"
    assert "5 graphs" in out and "faults: 2 graphs, 1 different" in out
    assert of_json(json.loads(files[2].read_text())).cases == 5
    status, _, err = fuzz("--graphs", 5, "--seed", 2, "--add", files[0])
    assert status == 2 and "some are counted already, in 0 to 2" in err
    files[0].write_text("[]")
    status, _, err = fuzz("--graphs", 0, "--add", files[0])
    assert status == 1 and "no table of a campaign" in err and err.count("\n") <= 2


@pytest.mark.parametrize(
    "words",
    [
        ["--kind", "conv"],
        ["--sizes", "large"],
        ["--jobs", "0"],
        ["--minutes", "-1"],
        ["--operator", "Relo"],
        ["--kind", "compiled", "--kind", "layout"],
    ],
)
def test_a_wrong_option_is_bad_usage(words: list[str]) -> None:
    out, err = StringIO(), StringIO()
    assert run(["fuzz", *words], out, err) == 2
    assert err.getvalue().count("\n") == 1


@pytest.mark.slow
def test_the_command_runs_a_campaign_and_a_seed_again(tmp_path: Path) -> None:
    out, err = StringIO(), StringIO()
    words = ["--graphs", "2", "--seed", "7", "--jobs", "1", "--sizes", "tiny", "-o", str(tmp_path)]
    assert run(["fuzz", *words], out, err) == 0, out.getvalue()
    assert "seeds from 7 on" in out.getvalue() and "2 graphs" in out.getvalue()
    seed = next(s for s in range(7, 99) if plan_of(s).sizes == Sizes.TINY)
    again = StringIO()
    assert run(["fuzz", "--replay", str(seed), "-o", str(tmp_path)], again, err) == 0
    assert again.getvalue().rstrip().endswith("same")
    assert StoredCase.read(tmp_path / str(seed)).seed == seed


@pytest.mark.parametrize(("error", "kind"), [(UnsupportedError, Kind.REFUSAL), (InputError, Kind.INTERNAL_ERROR)])
def test_a_valid_program_is_refused_as_unsupported_alone(
    monkeypatch: pytest.MonkeyPatch, error: type[LaminaError], kind: Kind
) -> None:
    def refuse(*_: object) -> None:
        raise error("a tile does not fit")

    monkeypatch.setattr(Compiled, "executable", refuse)
    assert Report.of_json(run_seed(0)).outcome.kind is kind


def test_what_underflows_in_another_order_is_the_same() -> None:
    comparer, least = Comparer(["y"]), np.array([1.4e-45], np.float32)
    assert comparer.difference({"y": least * 0}, {"y": least}) == ""
    assert comparer.difference({"y": least * 0}, {"y": np.array([1e-30], np.float32)})


def test_integers_of_floats_are_of_ordinary_ones() -> None:
    """An integer of NaN is nowhere defined: inputs that a cast reads, however far, take no special values."""
    graph = OnnxGraph(Draw(3, Sizes.TINY), 17)
    x, y = graph.fresh_input("float32", (2,)), graph.fresh_input("float32", (2,))
    (z,) = graph.node("Neg", graph.node("Abs", [x]))
    assert graph.ordinary(z) is z and graph.free == {y.name}


@pytest.mark.parametrize("name", ["BlackmanWindow", "MelWeightMatrix"])
def test_a_constant_of_a_formula_is_no_second_operand(name: str) -> None:
    """Its rounding is an implementation's own: times itself it would be compared as if it were a sum's."""
    for seed in range(40):
        graph = OnnxGraph(Draw(seed, Sizes.TINY), 17, fresh=0.0)
        rows()["", name](graph, name)
        made, *followers = graph.nodes
        assert made.op_type == name
        assert all(list(node.input).count(made.output[0]) == 1 for node in followers)


def test_code_that_this_machine_lacks_features_for_is_no_second_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_HOST", "x86-64-v2")
    assert [Compiled("", target=t).runs_here() for t in ("cpu", "x86-64-v2", "x86-64-v3")] == [True, True, False]


def test_products_of_bytes_go_through_the_passes_of_machines_that_are_not_here() -> None:
    tiny = (seed for seed in range(900000, 999999) if plan_of(seed).sizes == Sizes.TINY)
    seeds = islice((seed for seed in tiny if drawn(seed).operators.keys() & SATURATING), 5)
    found = [Report.of_json(run_seed(seed)) for seed in seeds]
    assert [r for r in found if r.outcome.kind is not Kind.SAME] == []
    assert len([r for r in found if r.pair in {way.name for way in ELSEWHERE}]) > 2
    info = helper.make_tensor_value_info
    names = [info("x", TensorProto.INT8, [1, 2, 4, 4]), info("w", TensorProto.INT8, [3, 2, 2, 2])]
    graph = helper.make_graph(
        [helper.make_node("ConvInteger", ["x", "w"], ["y"])], "g", names, [info("y", TensorProto.INT32, [1, 3, 3, 3])]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    inputs = {"x": np.arange(-16, 16, dtype=np.int8).reshape(1, 2, 4, 4), "w": np.full((3, 2, 2, 2), -128, np.int8)}
    program, fired = Program(model.SerializeToString(), True, inputs), FiringInstrument()
    cascadelake = next(way for way in ELSEWHERE if way.target == "cascadelake")
    np.testing.assert_equal(cascadelake.run(program, [fired]), by_oracles(program)[0])
    assert fired.counts["relay-qnn-legalize"] == 1


@pytest.mark.parametrize("way", ELSEWHERE, ids=lambda way: way.target)
def test_what_the_passes_make_for_a_machine_is_interpreted(way: Interpreted) -> None:
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    program = Program(model.SerializeToString(), True, {"x": np.array([0.0, 1.0, np.inf], np.float32)})
    fired = FiringInstrument()
    assert way.takes(program, Sizes.REAL, True)
    np.testing.assert_allclose(way.run(program, [fired])["y"], np.exp(program.inputs["x"]), rtol=1e-6)
    assert "tir-vectorize-loop" in fired.ran
