"""Traced runs: what ran where, what each kernel has to do, profiles and traces for Perfetto."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.cli import command as cli
from lamina.driver.api import Executable
from lamina.errors import InputError, UsageError
from lamina.ir.parsing import parse_text
from lamina.measure.kernel_profile import Recording
from lamina.runtime.compiled import CompiledProgram
from lamina.runtime.trace import TracedProgram, traced_runs

pytestmark = pytest.mark.slow

X = np.linspace(-1, 1, 8 * 6, dtype=np.float32).reshape(8, 6)


def network() -> bytes:
    """Rows of a table, a product with a constant, its softmax."""
    draw = np.random.default_rng(0)
    table = numpy_helper.from_array(draw.standard_normal((1000, 6)).astype(np.float32), "table")
    weight = numpy_helper.from_array(draw.standard_normal((6, 40)).astype(np.float32), "weight")
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"], name="lookup"),
        helper.make_node("Add", ["x", "rows"], ["sum"], name="sum"),
        helper.make_node("MatMul", ["sum", "weight"], ["product"], name="project"),
        helper.make_node("Softmax", ["product"], ["y"], name="soft"),
    ]
    inputs = [
        helper.make_tensor_value_info("ids", TensorProto.INT64, [8]),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 6]),
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 40])
    graph = helper.make_graph(nodes, "g", inputs, [output], [table, weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


INPUTS = {"ids": np.arange(8, dtype=np.int64) * 3, "x": X}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("profile") / "net.onnx"
    path.write_bytes(network())
    return path


@pytest.fixture(scope="module")
def exe(path: Path) -> Executable:
    return lamina.compile(path, threads=1, cache=False)


@pytest.fixture(scope="module")
def recording(exe: Executable) -> Recording:
    return exe.record(INPUTS, repeats=4)


def machine_code(exe: Executable) -> CompiledProgram:
    program = exe._program  # pyright: ignore[reportPrivateUsage]
    assert isinstance(program, CompiledProgram)
    return program


@pytest.mark.parametrize("threads", [1, 2])
def test_the_slices_of_a_row_are_its_whole_loop(threads: int) -> None:
    big = helper.make_model(
        helper.make_graph(
            [helper.make_node("Exp", ["x"], ["e"], name="exp"), helper.make_node("Softmax", ["e"], ["y"], name="soft")],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 500])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 500])],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    exe = lamina.compile(big, threads=threads, cache=False)
    x = np.random.default_rng(0).standard_normal((64, 500)).astype(np.float32)
    before = exe.run({"x": x})["y"]
    program = machine_code(exe)
    for run in traced_runs(program, {"x": x}, 3):
        for row in range(program.program.entries):
            parts = sorted((s.first, s.last) for s in run if s.row == row)
            assert parts and parts[0][0] == 0
            assert all(a[1] == b[0] for a, b in zip(parts, parts[1:], strict=False))
        assert {s.row for s in run} == set(range(program.program.entries))
        assert all(s.end >= s.start and s.busy >= 0 and 0 <= s.thread < 2 for s in run)
        assert [s.start for s in run] == sorted(s.start for s in run)
    np.testing.assert_array_equal(exe.run({"x": x})["y"], before)
    assert not isinstance(program.program, TracedProgram) and program.traced is None


def test_a_trace_grows_until_every_record_fits(exe: Executable) -> None:
    program = machine_code(exe)
    traced = TracedProgram(program.program, 1 + 2 + 1 + len(program.params))
    traced._room(1)  # pyright: ignore[reportPrivateUsage]
    arrays = program.check(INPUTS)
    outputs = program.outputs(arrays)
    bases = program.bases(arrays, outputs)
    assert len(bases) == 1 + 2 + 1 + len(program.params)
    assert traced.run(bases) is None and not traced.complete and len(traced.slices()) == 1
    traced.clear()
    assert traced.run(bases) is None and traced.complete and len(traced.slices()) >= traced.entries > 1
    needed = len(traced.slices())
    for room, complete in ((needed, True), (needed - 1, False)):
        traced._room(room)  # pyright: ignore[reportPrivateUsage]
        assert traced.run(bases) is None and traced.complete is complete and len(traced.slices()) == room


def test_an_input_of_the_wrong_shape_leaves_the_program_as_it_was(exe: Executable) -> None:
    with pytest.raises(InputError, match="shape"):
        exe.record({**INPUTS, "x": X[:4]})
    with pytest.raises(UsageError, match="repeats is a positive integer, not 0"):
        exe.record(INPUTS, 0)
    assert machine_code(exe).traced is None


def test_kernels_have_the_nodes_shapes_and_costs_of_the_model(recording: Recording) -> None:
    kernels = {k.nodes: k for k in recording.kernels}
    (product,) = [k for n, k in kernels.items() if "project" in n]
    # The sum before the product may be in the same kernel.
    assert product.operations is not None and 0 <= product.operations - 2 * 8 * 6 * 40 <= 8 * 6 * 40
    # Packing may pad the 40 columns to whole vectors.
    assert 6 * 40 * 4 <= product.weights <= 6 * 64 * 4
    assert product.data >= 8 * 40 * 4 and "float32[8, 40]" in product.shapes
    (lookup,) = [k for n, k in kernels.items() if "lookup" in n]
    # 8 rows of the table are read, not all 1,000.
    assert lookup.weights + lookup.data < 8 * 6 * 4 * 6
    assert not any(k.external for k in recording.kernels)


COSTS = """
te.func @f(%X: tensor<4x8xf32>, %W: tensor<100x8xf32>) -> tensor<4x3xf32> {
  %s = te.compute "s" [4, 3] sum [8] (%i, %j, %k) : tensor<4x3xf32> {
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    %w = te.read %W[%j, %k] : tensor<100x8xf32>
    %p = arith.mulf %x, %w : f32
    te.yield %p : f32
  }
  %y = te.compute "y" [4, 3] (%i, %j) : tensor<4x3xf32> {
    %a = te.read %s[%i, %j] : tensor<4x3xf32>
    %b = math.exp %a : f32
    %c = arith.addf %b, %a : f32
    %d = arith.negf %a : f32
    %first = te.condition [%i == 0] : i1
    %e = arith.select %first, %c, %d : f32
    te.yield %e : f32
  }
  te.return %y : tensor<4x3xf32>
}
"""


def test_operations_are_counted_along_the_longest_choice_and_reads_once() -> None:
    from lamina.dialects.te.ops import FuncOp
    from lamina.driver.kernel_costs import function_cost
    from lamina.ir.context import LaminaContext

    (func,) = parse_text(LaminaContext(), COSTS, "costs.mlir").ops
    assert isinstance(func, FuncOp)
    cost = function_cost(func)
    assert cost.operations == 2 * 4 * 3 * 8 + 2 * 4 * 3
    assert cost.elements_read == {0: 96, 1: 96}


def test_phases_of_a_kernel_are_one_call() -> None:
    from lamina.passes.tir_to_llvm.program import calls_of_symbols

    rows = ["a", "b.0", "b.1", "b.0", "b.1", "", "", "a", "a.b", "a.1"]
    assert calls_of_symbols(rows) == [0, 1, 1, 2, 2, 3, 4, 5, 6, 7]


def test_a_profile_is_sorted_and_has_shares(recording: Recording) -> None:
    profile = recording.profile()
    assert [r.seconds for r in profile] == sorted((r.seconds for r in profile), reverse=True)
    assert abs(sum(r.share for r in profile) - 1) < 1e-6
    assert "lookup" in str(profile) and "(1 more)" in profile.table(len(profile) - 1)
    assert [len(times) for times in recording.seconds()] == [4] * len(recording.kernels)


def test_a_trace_has_a_track_for_each_thread_and_a_slice_for_each_kernel(recording: Recording, tmp_path: Path) -> None:
    recording.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    names = [e for e in trace["traceEvents"] if e["ph"] == "M"]
    assert {e["args"]["run"] for e in slices} == {1, 2, 3}
    assert {e["tid"] for e in slices} <= {e["tid"] for e in names if e["name"] == "thread_name"}
    assert min(e["ts"] for e in slices) == 0 and all(e["dur"] >= 0 for e in slices)
    assert {e["name"] for e in slices} == {k.nodes for k in recording.kernels}
    (product,) = [e for e in slices if "project" in e["name"] and e["args"]["run"] == 1]
    assert product["args"]["GFLOP/s"] > 0 and "float32[8, 40]" in product["args"]["shapes"]
    with pytest.raises(InputError, match="cannot write"):
        recording.save(tmp_path)


def command(*argv: Any) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = cli.run([str(a) for a in argv], out, err)
    return status, out.getvalue(), err.getvalue()


def test_the_command_prints_a_table_and_writes_a_trace(path: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    status, out, _ = command("profile", path, "--no-cache", "--repeats", 2, "--limit", 1, "--trace", trace)
    assert status == 0 and out.splitlines()[0].split() == ["us", "share", "Gop/s", "nodes"]
    assert "perfetto" in out and f"lamina: {path.name}" in trace.read_text()
    status, out, _ = command("profile", path, "--no-cache", "--repeats", 1, "--json")
    found = json.loads(out)
    assert status == 0 and found["runs"] == 1 and all(k["seconds"] > 0 for k in found["kernels"])
    assert any("project" in k["nodes"] for k in found["kernels"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--repeats", "0"], "--repeats must be positive"),
        (["--limit", "0"], "--limit must be positive"),
        (["--trace", "/"], "cannot write"),
    ],
)
def test_mistakes_are_said_in_one_line(path: Path, options: list[str], said: str) -> None:
    status, out, err = command("profile", path, *options)
    assert status in (1, 2) and said in err and not out


def test_few_rows_of_an_open_program_are_no_work_for_two_threads() -> None:
    """The runner is told how many rows there are: one is run where the program runs, thousands are shared."""
    info = helper.make_tensor_value_info
    ports = [info("x", TensorProto.FLOAT, ["n", 256])], [info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"], axis=1)], "g", *ports)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    exe = lamina.compile(model, threads=2)

    def slices(rows: int) -> list[tuple[int, int]]:
        (run,) = exe.record({"x": np.ones((rows, 256), np.float32)}, repeats=1).runs
        return sorted((s.first, s.last) for s in run)

    assert slices(1) == [(0, 1)]
    assert slices(0) == [(0, 0)]
    shared = slices(4096)
    assert len(shared) > 2 and (shared[0][0], shared[-1][1]) in ((0, 4096), (0, 1024))  # rows, or fours of them
    assert all(a[1] == b[0] for a, b in zip(shared, shared[1:], strict=False))
