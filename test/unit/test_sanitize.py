"""tir-sanitize: what kernels check while they run, as machine code; right programs pass, wrong ones end in one line."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError
from lamina.interpreters.reductions import CheckFailure
from lamina.interpreters.te_interpreter import run_te_func
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.passes.te_to_tir.te_to_tir import lower_function
from lamina.passes.tir.checks.sanitize import SanitizePass
from lamina.passes.tir.loops.lower_blocks import LowerBlocksPass
from lamina.passes.tir.loops.vectorize_loop import VectorizeLoopPass
from lamina.runtime.llvm_module import load_module

pytestmark = pytest.mark.slow


def _programs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("te_programs", Path(__file__).with_name("te_programs.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = _programs()
TO_LLVM = "tir-lower-blocks,tir-vectorize-loop,tir-sanitize,tir-plan-memory,tir-to-llvm"
MAIN = """
func.func @main(%a: memref<6xf32> {lamina.name = "x"}, %r: memref<6xf32> {lamina.name = "y"})
    attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%a, %r) : memref<6xf32>, memref<6xf32>
  func.return
}
"""


def run(text: str, pipeline: str = TO_LLVM, **inputs: Any) -> dict[str, Any]:
    """The results of `@main` as machine code."""
    ctx = LaminaContext()
    module: ModuleOp = parse_text(ctx, text, "f.mlir")
    run_pipeline(module, ctx, parse_pipeline(pipeline))
    return load_module(module, None).run(inputs)


KERNEL = """
tir.func @f(%X: memref<6xf32>, %y: memref<6xf32>) attributes {outputs = 1 : i64} {
  %t = tir.alloc "t" scope "global" : memref<6xf32>
  tir.for %i = 0 to 6 PARALLEL "t.i" {
    %x = tir.load %X[LOAD] GUARD : memref<6xf32>
    tir.store %x, %t[STORE] : memref<6xf32>
  }
  tir.for %j = 0 to ROWS "y.j" {
    %u = tir.load %t[%j] : memref<6xf32>
    tir.store %u, %y[%j] : memref<6xf32>
  }
}"""
RIGHT = {"PARALLEL": "", "LOAD": "%i", "GUARD": "", "STORE": "%i", "ROWS": "6"}


def kernel(**changes: str) -> str:
    text = KERNEL
    for key, value in (RIGHT | changes).items():
        text = text.replace(key, value)
    return text + MAIN


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"PARALLEL": "parallel"}, [0, 1, 2, 3, 4, 5]),
        ({"LOAD": "%i - 1", "GUARD": "where [%i - 1 >= 0]"}, [0, 0, 1, 2, 3, 4]),
        ({"LOAD": "%i floordiv 4", "PARALLEL": "parallel"}, [0, 0, 0, 0, 1, 1]),
        ({"PARALLEL": "vectorized"}, [0, 1, 2, 3, 4, 5]),
        ({"STORE": "%i * -1 + 5", "PARALLEL": "parallel"}, [5, 4, 3, 2, 1, 0]),
    ],
)
def test_a_right_kernel_computes_what_it_did(changes: dict[str, str], expected: list[int]) -> None:
    np.testing.assert_array_equal(run(kernel(**changes), x=np.arange(6, dtype=np.float32))["y"], expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"LOAD": "%i + 1"}, '%X[%i + 1] is read outside of its bounds [6], in loop "t.i"'),
        ({"LOAD": "%i - 1"}, '%X[%i - 1] is read outside of its bounds [6], in loop "t.i"'),
        ({"STORE": "%i * 2"}, '%t[%i * 2] is written outside of its bounds [6], in loop "t.i"'),
        (
            {"LOAD": "%i + 1", "GUARD": "where [%i * -1 + 5 >= 0]"},
            '%X[%i + 1] is read outside of its bounds [6], in loop "t.i"',
        ),
        ({"STORE": "%i floordiv 2"}, '%t[%j] is read before it is written, in loop "y.j"'),
        ({"ROWS": "5"}, "@f does not write all of %y"),
        (
            {"STORE": "%i floordiv 2", "PARALLEL": "parallel"},
            '%t[%i floordiv 2] is written by two iterations of the parallel loop "t.i"',
        ),
        ({"LOAD": "%i + 1", "PARALLEL": "vectorized"}, "%X[lane + 1] is read outside of its bounds [6]"),
        ({"STORE": "%i + 1", "PARALLEL": "vectorized"}, "%t[lane + 1] is written outside of its bounds [6]"),
    ],
)
def test_a_wrong_kernel_ends_in_one_line(changes: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as error:
        run(kernel(**changes), x=np.arange(6, dtype=np.float32))
    said = str(error.value)
    assert said.startswith("node 'f") and "\n" not in said
    assert said.endswith(message)


NEIGHBOURS = """
tir.func @f(%X: memref<6xf32>, %y: memref<6xf32>) attributes {outputs = 1 : i64} {
  tir.for %k = 0 to 6 "first" {
    %x = tir.load %X[%k] : memref<6xf32>
    tir.store %x, %y[%k] : memref<6xf32>
  }
  tir.for %i = 0 to 6 parallel "y.i" {
    %p = tir.load %y[INDEX] where [%i - 1 >= 0, %i * -1 + 4 >= 0] : memref<6xf32>
    tir.store %p, %y[%i] : memref<6xf32>
  }
}"""


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("%i - 1", '%y[%i - 1] is written by one and read by another iteration of the parallel loop "y.i"'),
        ("%i + 1", '%y[%i] is read by one and written by another iteration of the parallel loop "y.i"'),
        ("%i", None),
    ],
)
def test_an_iteration_that_reads_what_another_writes_is_found(index: str, message: str | None) -> None:
    text = NEIGHBOURS.replace("INDEX", index) + MAIN
    if message is None:
        found = run(text, x=np.arange(6, dtype=np.float32))["y"]
        np.testing.assert_array_equal(found, [0, 1, 2, 3, 4, 0])
    else:
        with pytest.raises(InputError) as error:
            run(text, x=np.arange(6, dtype=np.float32))
        assert str(error.value).endswith(message)


TE = """
func.func @main(%x: tensor<7xf32>) -> (tensor<7xf32> {lamina.name = "y"}) {
  %y = te.call @f(%x) : (tensor<7xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}
te.func @f(%X: tensor<7xf32>) -> tensor<7xf32> {
  %y = te.compute "y" [7] (%i) : tensor<7xf32> {
    %x = te.read %X[%i + SHIFT] : tensor<7xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<7xf32>
}
te.schedule @f {
  %i = te.loops "y" [1]
  %io, %ii = te.split %i [-1, 4]
  te.vectorize %ii
}
"""


def test_a_te_program_out_of_bounds_ends_in_one_line() -> None:
    x = np.arange(7, dtype=np.float32)
    pipeline = f"te-to-tir,{TO_LLVM}"
    np.testing.assert_array_equal(run(TE.replace("SHIFT", "0"), pipeline, x=x)["y"], x)
    # te-to-tir refuses what certainly lies outside, so the index is shifted behind it.
    ctx = LaminaContext()
    module = parse_text(ctx, TE.replace("SHIFT", "0"), "shift.mlir")
    run_pipeline(module, ctx, parse_pipeline("te-to-tir"))
    shifted = str(module).replace("%x = tir.load %X[%ii + %io * 4]", "%x = tir.load %X[%ii + %io * 4 + 1]")
    with pytest.raises(InputError, match=r"%X\[.*\+ 1\] is read outside of its bounds \[7\], in loop \"y.i.0\"$"):
        run(shifted, TO_LLVM, x=x)


GATHER = """
func.func @main(%x: tensor<5xf32>, %n: tensor<3xi64>) -> (tensor<3xf32> {lamina.name = "y"}) {
  %y = te.call @f(%x, %n) : (tensor<5xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
te.func @f(%X: tensor<5xf32>, %I: tensor<3xi64>) -> tensor<3xf32> {
  %y = te.compute "y" [3] (%i) : tensor<3xf32> {
    %n = te.read %I[%i] : tensor<3xi64>
    %k = arith.index_cast %n : i64 to index
    %x = te.read %X[%k] : tensor<5xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<3xf32>
}
"""


def test_an_index_from_memory_is_checked() -> None:
    x = np.arange(5, dtype=np.float32)
    pipeline = f"te-to-tir,{TO_LLVM}"
    np.testing.assert_array_equal(run(GATHER, pipeline, x=x, n=np.array([4, 0, 2]))["y"], [4, 0, 2])
    for wrong in (5, -1, 1 << 40):
        with pytest.raises(InputError, match=r"%X\[%k\] is read outside of its bounds \[5\], in loop \"y.i\"$"):
            run(GATHER, pipeline, x=x, n=np.array([4, wrong, 2]))


def test_sizes_known_at_run_time_bound_indices() -> None:
    text = """
    func.func @main(%n: index, %x: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>})
        -> (tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>, lamina.name = "y"}) {
      %y = te.call @f(%n, %x) : (index, tensor<?xf32>) -> tensor<?xf32>
      return %y : tensor<?xf32>
    }
    te.func @f(%n: index, %X: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
      %y = te.compute "y" [%n] (%i) : tensor<?xf32> {
        %x = te.read %X[%n - %i - LAST] : tensor<?xf32>
        te.yield %x : f32
      }
      te.return %y : tensor<?xf32>
    }"""
    pipeline = f"te-to-tir,{TO_LLVM}"
    for n in (0, 1, 5):
        x = np.arange(n, dtype=np.float32)
        np.testing.assert_array_equal(run(text.replace("LAST", "1"), pipeline, x=x)["y"], x[::-1])
    with pytest.raises(InputError, match=r"is read outside of its bounds \[%n\], in loop \"y.i\"$"):
        run(text.replace("LAST", "2"), pipeline, x=np.arange(5, dtype=np.float32))


# -- many programs, run by the interpreter ---------------------------------------------------------------------------


@pytest.mark.parametrize("build", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_checks_hold_on_right_programs(build: Any) -> None:
    for seed in range(4):
        source = build(random.Random(seed))
        arrays = programs.inputs_of(source, seed)
        func, _ = lower_function(source)
        module = ModuleOp([func])
        ctx = LaminaContext()
        for p in (LowerBlocksPass(), VectorizeLoopPass(), SanitizePass(everything=seed % 2 == 0)):
            p.apply(ctx, module)
        module.verify()
        for found, wanted in zip(run_tir_func(func, arrays), run_te_func(source, arrays), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_checks_fail_before_the_interpreter_would_see_the_access() -> None:
    ctx = LaminaContext()
    for changes in ({"LOAD": "%i + 1"}, {"LOAD": "%i - 1"}, {"STORE": "%i * 2"}):
        module: ModuleOp = parse_text(ctx, kernel(**changes), "f.mlir")
        SanitizePass().apply(ctx, module)
        func = next(op for op in module.ops if isinstance(op, FuncOp))
        with pytest.raises(CheckFailure):
            run_tir_func(func, [np.zeros(6, np.float32)])


# -- the command -----------------------------------------------------------------------------------------------------


def test_a_model_runs_sanitized(tmp_path: Path) -> None:
    from onnx import TensorProto, helper

    import lamina

    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["y"]),
    ]
    weights = np.random.default_rng(0).standard_normal((5, 3, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 9, 9])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5, 1, 1])],
        [helper.make_tensor("w", TensorProto.FLOAT, weights.shape, weights.tobytes(), raw=True)],
    )
    path = tmp_path / "m.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    x = np.random.default_rng(1).standard_normal((1, 3, 9, 9)).astype(np.float32)
    plain = lamina.compile(path, cache=False, threads=2)
    checked = lamina.compile(path, cache=False, threads=2, sanitize=True)
    assert "tir-sanitize" in checked.pipeline and "tir-sanitize" not in plain.pipeline
    assert "does not write all of" in checked.text("tir")
    np.testing.assert_array_equal(checked(x), plain(x))


def test_the_command_runs_and_shows_it(tmp_path: Path) -> None:
    import io

    from onnx import TensorProto, helper

    from lamina.cli import command as cli

    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 5]) for n in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Tanh", ["x"], ["y"])], "g", ports[:1], ports[1:])
    path = tmp_path / "tanh.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())

    def command(*argv: Any) -> tuple[int, str]:
        out, err = io.StringIO(), io.StringIO()
        return cli.run([str(a) for a in argv], out, err), out.getvalue()

    plain, checked = command("run", path, "--no-cache"), command("run", path, "--no-cache", "--sanitize")
    assert plain == checked and plain[0] == 0
    status, pipeline = command("compile", "--print-pipeline", "--sanitize")
    assert status == 0 and ",tir-sanitize,tir-form-teams,tir-plan-memory," in pipeline
    assert "tir.check" in command("compile", path, "--emit", "tir", "--sanitize")[1]


MATMUL = """
func.func @main(%a: tensor<9x7xf32>, %b: tensor<7x11xf32>) -> (tensor<9x11xf32> {lamina.name = "y"}) {
  %y = te.call @f(%a, %b) : (tensor<9x7xf32>, tensor<7x11xf32>) -> tensor<9x11xf32>
  return %y : tensor<9x11xf32>
}
te.func @f(%A: tensor<9x7xf32>, %B: tensor<7x11xf32>) -> tensor<9x11xf32> {
  %T = te.compute "T" [7, 11] (%r, %j) : tensor<7x11xf32> {
    %b = te.read %B[%r, %j] : tensor<7x11xf32>
    %t = arith.addf %b, %b : f32
    te.yield %t : f32
  }
  %C = te.compute "C" [9, 11] sum [7] (%i, %j, %k) : tensor<9x11xf32> {
    %a = te.read %A[%i, %k] : tensor<9x7xf32>
    %b = te.read %T[%k, %j] : tensor<7x11xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %C : tensor<9x11xf32>
}
te.schedule @f { SCHEDULE }
"""


@pytest.mark.parametrize(
    "schedule",
    [
        """%i, %j, %k = te.loops "C" [3]  %jo, %ji = te.split %j [-1, 4]  te.reorder %jo, %k, %i, %ji
           te.vectorize %ji  te.parallel %jo""",
        """%i, %j, %k = te.loops "C" [3]  %io, %ii = te.split %i [-1, 4]  %jo, %ji = te.split %j [-1, 8]
           te.reorder %io, %jo, %k, %ii, %ji  %r, %t = te.compute_at "T" at %jo [2]  te.vectorize %ji  te.vectorize %t
           te.parallel %io""",
    ],
)
def test_scheduled_kernels_with_tails_pass_their_checks(schedule: str) -> None:
    r = np.random.default_rng(0)
    a, b = (r.integers(-4, 5, s).astype(np.float32) for s in ((9, 7), (7, 11)))
    for sanitize in ("tir-sanitize", "tir-sanitize{everything}"):
        pipeline = f"te-to-tir,{TO_LLVM}".replace("tir-sanitize", sanitize)
        found = run(MATMUL.replace("SCHEDULE", schedule), pipeline, a=a, b=b)["y"]
        np.testing.assert_array_equal(found, a @ (b + b))
