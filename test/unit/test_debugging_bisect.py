"""Which step makes a fault: passes, primitives, firings and the importer, found by halving."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from lamina.cli import command as cli
from lamina.debugging.agreement import first_difference, furthest, noise_of, perturbed_runs, within
from lamina.debugging.bisect import first_bad
from lamina.debugging.compare import compare_levels
from lamina.debugging.reference import Reference
from lamina.debugging.stored_case import StoredCase
from lamina.errors import UsageError
from lamina.frontends.onnx.registry import converters
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text

sys.path.insert(0, str(Path(__file__).parent))

from hundred_ops import hundred_ops  # noqa: E402
from scheduled_product import scheduled_product  # noqa: E402

INPUTS = Path(__file__).parents[1] / "debugging" / "inputs"
FAULTS = INPUTS / "faults.py"


def command(*words: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = cli.run([str(w) for w in words], out, err)
    return status, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("wrong", range(1, 20))
def test_the_first_that_is_bad_is_found_with_few_questions(wrong: int) -> None:
    asked: list[int] = []

    def bad(n: int) -> bool:
        asked.append(n)
        return n >= wrong

    assert first_bad(19, bad) == wrong
    assert len(asked) <= 5


# -- what counts as equal ------------------------------------------------------------------------------------------


def test_a_part_of_the_largest_value_is_no_difference() -> None:
    a = np.array([1000.0, 0.5, np.nan, np.inf], np.float32)
    assert furthest({"y": a}, {"y": a + np.float32(0.05)}) is None
    found = furthest({"y": a}, {"y": a + np.array([0, 0.5, 0, 0], np.float32)})
    assert found is not None and found.index == (1,) and found.error == pytest.approx(5e-4)
    found = furthest({"y": a}, {"y": np.zeros(4, np.float32)})
    assert found is not None and found.error == np.inf


def test_integers_are_equal_to_the_bit() -> None:
    found = furthest({"y": np.array([1, 1 << 40])}, {"y": np.array([1, (1 << 40) + 1])})
    assert found is not None and found.index == (1,)
    assert first_difference(np.array([True]), np.array([False])) == (0,)


def test_what_roundings_decide_is_no_difference() -> None:
    """A difference of equal values: it is noise, and so is which of them is the larger."""

    def run(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        x = arrays["x"]
        return {"y": x - x[::-1], "larger": np.array([np.argmax(x)])}

    inputs = {"x": np.full(64, 0.3, np.float32)}
    expected = run(inputs)
    got = {"y": expected["y"] + np.float32(1e-8), "larger": expected["larger"] + 1}
    assert furthest(expected, got) is not None
    runs = perturbed_runs(run, inputs, list(expected.values()))  # type: ignore[arg-type]
    assert furthest(expected, got, within(noise_of(runs))) is None


TIES = """
func.func @main(%x: tensor<256xf32>) -> tensor<256xi8> {
  %third = relay.constant dense<0.333333343> : tensor<f32>
  %scale = relay.constant dense<2.0> : tensor<f32>
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.multiply %x, %third : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
  %y = relay.qnn.quantize %one, %scale, %zero {rounding = "TONEVEN"}
    : (tensor<256xf32>, tensor<f32>, tensor<i32>) -> tensor<256xi8>
  return %y : tensor<256xi8>
}
"""


def test_of_many_ties_few_roundings_show_each() -> None:
    """Three times a third is 1, or a little more: a half of it is 0 or 1. Some runs leave a part of 256 as it is."""
    ctx = LaminaContext()
    x = np.full(256, 3, np.float32)
    x[7] = 30
    reference = Reference(parse_text(ctx, TIES, "ties.mlir"), ctx, {"x": x}, None)
    expected = reference.results()
    (exact,) = expected.values()
    assert exact[7] == 5 and np.array_equal(np.delete(exact, 7), np.zeros(255))
    other = {name: np.where(x == 3, 1, exact).astype(np.int8) for name in expected}
    assert furthest(expected, other) is not None
    assert furthest(expected, other, reference.decided) is None
    wrong = {name: np.where(x == 3, 1, 6).astype(np.int8) for name in expected}
    found = furthest(expected, wrong, reference.decided)
    assert found is not None and found.index == (7,)


# -- compare, compiled between the steps ---------------------------------------------------------------------------


def test_results_without_axes_are_compared_as_others() -> None:
    one, two = np.array(1.0, np.float32), np.array(2.0, np.float32)
    assert furthest({"y": one}, {"y": one}) is None
    assert str(furthest({"y": one}, {"y": two})) == "result 'y' is 2.0, expected 1.0"
    noise = noise_of([[one], [two]])
    assert noise[0].shape == () and furthest({"y": one}, {"y": two}, within(noise)) is None
    assert np.isinf(noise_of([[one], [np.array(np.nan, np.float32)]])[0])


@pytest.mark.slow
def test_a_program_that_is_compiled_between_the_steps_agrees() -> None:
    found = compare_levels(hundred_ops(1, 0), "f.mlir", checked=False)
    assert found.difference is None and found.sampled and str(found) == "tir-to-llvm agrees"


SCHEDULED = scheduled_product(
    "%io, %ii = te.split %i [-1, 2]",
    "te.reorder %io, %j, %k, %ii",
    "te.unroll %ii",
)


@pytest.mark.slow
def test_a_primitive_is_found_by_halving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULTY_REORDER", "1")
    told: list[str] = []
    found = compare_levels(SCHEDULED, "f.mlir", checked=False, load=[str(FAULTS)], tell=told.append)
    assert found.difference is not None
    assert (found.difference.step, found.difference.where) == ("te.reorder %io, %j, %k, %ii", "f.mlir:13:3")
    assert "result 'C'" in found.difference.failure
    assert any(re.search(r"; about \d+ s left", line) for line in told)


def test_the_step_to_begin_with_is_known() -> None:
    found = compare_levels(SCHEDULED, "f.mlir", start="te.unroll")
    assert found.steps[:3] == ["te", "te.unroll %ii", "te-to-tir"] and found.difference is None
    with pytest.raises(UsageError, match="no step 'tir-simplifi'; did you mean 'tir-simplify'"):
        compare_levels(SCHEDULED, "f.mlir", start="tir-simplifi")


@pytest.mark.slow
def test_the_driver_is_the_last_step_where_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    path.write_text(hundred_ops(1, 0).replace("8x16", "2x2").replace("16x16", "2x2").replace("16x8", "2x2")
                    .replace("<16x", "<2x").replace("8x8", "2x2"))  # fmt: skip
    status, out, _ = command("debug", "compare", path, "--compiled", "--from", "tir-to-llvm")
    assert status == 0 and "same  lamina.compile (opt level 3, 1 thread)" in out


# -- bisect --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_firing_of_a_rule_is_found(tmp_path: Path) -> None:
    """Three firings; what the first two rewrite is positive either way."""
    path = tmp_path / "f.mlir"
    path.write_text(FIRINGS)
    pipeline = "relay-fold-constant,faulty-rule,relay-dead-code-elimination"
    status, out, _ = command("debug", "bisect", path, "--load", FAULTS, "-p", pipeline, "--quiet")
    lines = out.splitlines()
    assert status == 1 and lines[0].startswith("mismatch: result ")
    assert lines[1] == "pass faulty-rule (2 of 3)"
    assert re.fullmatch(r"edit faults\.py:\d+  %third -> %\d+ \(3 of 3\)", lines[2])
    status, out, _ = command("debug", "bisect", path, "-p", "relay-fold-constant", "--quiet")
    assert (status, out) == (0, "there is no fault\n")


FIRINGS = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0.0> : tensor<f32>
  %one = relay.constant dense<1.0> : tensor<f32>
  %a = relay.subtract %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %first = relay.nn.relu %a : tensor<4xf32>
  %b = relay.subtract %first, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %second = relay.nn.relu %b : tensor<4xf32>
  %c = relay.subtract %second, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %third = relay.nn.relu %c : tensor<4xf32>
  return %third : tensor<4xf32>
}
"""


# -- the importer --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_fault_of_the_importer_is_found_in_the_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = converters()
    monkeypatch.setitem(table, ("", "Softsign"), table["", "Softsign"])  # the file is loaded in this process
    nodes: list[onnx.NodeProto] = []
    x = "x"
    for n, kind in enumerate(["Relu", "Tanh", "Abs", "Softsign", "Neg", "Exp"]):
        nodes.append(helper.make_node(kind, [x], [f"v{n}"]))
        x = f"v{n}"
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("x", x)]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    folder = tmp_path / "least"
    status, out, err = command(
        "reduce", tmp_path / "model.onnx", "--load", INPUTS / "faulty_import.py", "-o", folder, "--threads", 1,
        "--opt-level", 2,
    )  # fmt: skip
    assert status == 0, err
    assert out.startswith("mismatch: result 'v3'[") and "(the importer)" in out and "Softsign" in out
    assert "6 nodes -> 1 in " in err
    case = StoredCase.read(folder)
    (node,) = onnx.ModelProto.FromString(case.program).graph.node
    assert node.op_type == "Softsign" and list(case.inputs) == ["v2"]


def test_a_way_that_is_given_is_the_only_one_that_is_tried(tmp_path: Path) -> None:
    file = tmp_path / "model.mlir"
    file.write_text(
        "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
        "  %y = relay.exp %x : tensor<8xf32>\n"
        "  return %y : tensor<8xf32>\n"
        "}\n"
    )
    status, _, err = command("reduce", file, "--opt-level", 3)  # the default one, given all the same
    assert status == 1
    assert err.splitlines() == ["error: no fault shows: same (opt level 3, 1 thread)"]
