"""Relay as text, compiled and run by the public interface and the command: plain programs, and those of the machine."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

import lamina
from lamina.cli import command as cli
from lamina.driver.machine_program import MachineProgram
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.ir.verification import verify_module
from lamina.passes.relay.functional.inline import MOST_OPS
from lamina.vm.vm import AdtValue

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]

CALLS = """
func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.add %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @both(%x: tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>> {
  %a = func.call @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = func.call @twice(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %t = relay.tuple(%a, %b) : tuple<tensor<8xf32>, tensor<8xf32>>
  return %t : tuple<tensor<8xf32>, tensor<8xf32>>
}
func.func @main(%x: tensor<8xf32>) -> tensor<4x2xf32> {
  %t = func.call @both(%x) : (tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>>
  %a = relay.tuple_get_item %t[0] : tuple<tensor<8xf32>, tensor<8xf32>>
  %b = relay.tuple_get_item %t[1] : tuple<tensor<8xf32>, tensor<8xf32>>
  %f = relay.fn captures(%k = %b : tensor<8xf32>) (%y: tensor<8xf32>) -> tensor<8xf32> {
    %0 = relay.multiply %y, %k : tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  %c = relay.call %f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %d = relay.call %f(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %shape = relay.constant dense<[4, -1]> : tensor<2xi64>
  %r = relay.dyn.reshape %d, %shape : (tensor<8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %s = relay.reshape %r {newshape = [4, 2]} : (tensor<?x?xf32>) -> tensor<4x2xf32>
  return %s : tensor<4x2xf32>
}
"""

ROWS = "tensor<?x4xf32, #relay.dims<n, _>>"
LOOP = """
func.func @main(%count: tensor<i32>, %x: ROWS) -> ROWS {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %more = relay.greater %count, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %more -> ROWS {
    %less = relay.subtract %count, %one : tensor<i32>
    %y = relay.tanh %x : ROWS
    %f = func.call @main(%less, %y) : (tensor<i32>, ROWS) -> ROWS
    relay.yield %f : ROWS
  } else {
    relay.yield %x : ROWS
  }
  return %r : ROWS
}
""".replace("ROWS", ROWS)

OPEN = """
func.func @main(%x: ROWS, %b: tensor<?xf32>) -> (ROWS, tensor<?xf32>) {
  %y = relay.exp %x : ROWS
  %c = relay.nn.relu %b : tensor<?xf32>
  return %y, %c : ROWS, tensor<?xf32>
}
""".replace("ROWS", ROWS)

# ruff: noqa: E501
LIST = """
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
func.func @main(%x: tensor<2xf32>, %l: !relay.adt<@List, tensor<2xf32>>) -> !relay.adt<@List, tensor<2xf32>> {
  %y = relay.exp %x : tensor<2xf32>
  %m = relay.construct Cons(%y, %l) : (tensor<2xf32>, !relay.adt<@List, tensor<2xf32>>) -> !relay.adt<@List, tensor<2xf32>>
  return %m : !relay.adt<@List, tensor<2xf32>>
}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "relay-cache"))


def written(folder: Path, text: str) -> Path:
    path = folder / "net.mlir"
    path.write_text(text)
    return path


def command(*argv: str | Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = cli.run([str(a) for a in argv], out, err)
    return status, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("opt_level", range(5))
def test_calls_tuples_and_closures_of_a_plain_program_leave_no_trace(tmp_path: Path, opt_level: int) -> None:
    exe = lamina.compile(written(tmp_path, CALLS), threads=1, opt_level=opt_level)
    assert "1 kernels" in repr(exe) or opt_level == 0
    x = np.arange(8, dtype=np.float32)
    assert np.array_equal(exe(x), (2 * x * 4 * x * 4 * x).reshape(4, 2))
    assert [p.name for p in exe.inputs] == ["x"] and [p.name for p in exe.outputs] == ["s"]


def test_functions_that_double_what_is_inside_stay_calls_before_they_fill_the_memory() -> None:
    lines = ["func.func @f0(%x: tensor<8xf32>) -> tensor<8xf32> {", "  %y = relay.exp %x : tensor<8xf32>"]
    lines += ["  return %y : tensor<8xf32>", "}"]
    for n in range(1, 17):
        name = f"f{n}" if n < 16 else "main"
        call = f"func.call @f{n - 1}(%{{}}) : (tensor<8xf32>) -> tensor<8xf32>"
        lines += [f"func.func @{name}(%x: tensor<8xf32>) -> tensor<8xf32> {{", f"  %a = {call.format('x')}"]
        lines += [f"  %b = {call.format('a')}", "  return %b : tensor<8xf32>", "}"]
    module = parse_text(LaminaContext(), "\n".join(lines), "nested.mlir")
    run_pipeline(module, LaminaContext(), parse_pipeline("relay-inline{unmarked}"))
    verify_module(module)
    sizes = {f.sym_name.data: sum(1 for _ in f.walk()) for f in module.body.block.ops if isinstance(f, FuncOp)}
    assert max(sizes.values()) <= MOST_OPS and 1 < len(sizes) < 16
    assert "func.call" in str(module)


def test_the_program_of_a_text_comes_from_the_cache_until_the_text_or_its_weights_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    path = written(tmp_path, CALLS)
    assert not lamina.compile(path, threads=1).cached
    assert lamina.compile(path, threads=1).cached
    path.write_text(CALLS.replace("relay.add", "relay.subtract"))
    exe = lamina.compile(path, threads=1)
    assert not exe.cached and np.array_equal(exe(np.ones(8, np.float32)), np.zeros((4, 2), np.float32))


def test_what_was_written_with_its_weights_is_read_again(tmp_path: Path) -> None:
    from onnx import TensorProto, helper, numpy_helper

    w = np.random.default_rng(0).standard_normal((64, 32)).astype(np.float32)
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, e]) for n, e in (("x", 64), ("y", 32))]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", ports[:1], ports[1:], [numpy_helper.from_array(w, "w")]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    lamina.compile(model.SerializeToString(), threads=1).save_texts(tmp_path)
    again = lamina.compile(tmp_path / "relay.mlir", threads=1)
    x = np.random.default_rng(1).standard_normal((2, 64)).astype(np.float32)
    assert np.allclose(again(x), x @ w, atol=1e-4)
    assert "tensor<32x64xf32>" in lamina.load(tmp_path / "relay.mlir").text()
    # Other weights under the same name are another program.
    from lamina.driver.model import Origin

    before = Origin.of(tmp_path / "relay.mlir", None).digest
    weights = tmp_path / "relay.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert before is not None and Origin.of(tmp_path / "relay.mlir", None).digest not in (before, None)


def test_the_machine_is_behind_the_same_interface(tmp_path: Path) -> None:
    exe = lamina.compile(written(tmp_path, LOOP), threads=1)
    assert [p.describe() for p in exe.inputs] == ["int32[]", "float32[n, 4]"]
    assert [p.describe() for p in exe.outputs] == ["float32[n, 4]"]
    assert "run by the machine" in repr(exe)
    for rows in (3, 1, 3):
        x = np.random.default_rng(rows).standard_normal((rows, 4)).astype(np.float32)
        assert np.allclose(exe(np.int32(2), x), np.tanh(np.tanh(x)), atol=1e-6)
        assert np.array_equal(exe.run({"x": x, "count": np.int32(0)})["r"], x)
    assert exe.benchmark({"x": x, "count": np.int32(1)}, repeats=3).median > 0
    assert "relay.if" in exe.text("relay")
    with pytest.raises(UnsupportedError, match="no text of the level te"):
        exe.text("te")
    with pytest.raises(UnsupportedError, match="no text of the level"):
        exe.save_texts(tmp_path / "texts")
    with pytest.raises(UnsupportedError, match="run by the machine: it has no kernels in a fixed order; benchmark"):
        exe.profile({"x": x, "count": np.int32(1)})
    with pytest.raises(UsageError, match=r"no values can be drawn for the input 'x', float32\[n, 4\]"):
        exe.benchmark()


@pytest.mark.parametrize("text", [CALLS, LOOP, LIST], ids=["calls", "loop", "list"])
def test_the_relay_text_of_a_program_is_one_again(tmp_path: Path, text: str) -> None:
    """Also with the locations that it carries."""
    first = lamina.compile(written(tmp_path, text), threads=1)
    again = lamina.compile(written(tmp_path, first.text("relay")), threads=1)
    assert again.inputs == first.inputs and again.outputs == first.outputs
    assert again.text("relay") == first.text("relay")


def test_what_the_machine_compiled_is_in_the_object_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    x = np.ones((3, 4), np.float32)

    def run() -> tuple[int, int]:
        exe = lamina.compile(written(tmp_path, LOOP), threads=1)
        exe(np.int32(2), x)
        program = exe._program  # pyright: ignore[reportPrivateUsage]
        assert isinstance(program, MachineProgram)
        objects = program.kernels.objects
        assert objects is not None
        return objects.hits, objects.misses

    hits, misses = run()
    assert hits == 0 and misses > 0
    assert run() == (misses, 0)


def test_extents_that_are_given_make_a_plain_program_of_tensor_ops(tmp_path: Path) -> None:
    path = written(tmp_path, OPEN)
    open_ = lamina.compile(path, threads=1)
    fixed = lamina.compile(path, threads=1, shapes={"n": 3, "b": [5]})
    assert "machine" in repr(open_) and "machine" not in repr(fixed)
    assert [p.describe() for p in fixed.outputs] == ["float32[3, 4]", "float32[5]"]
    x, b = np.ones((3, 4), np.float32), np.arange(-2, 3).astype(np.float32)
    for exe in (open_, fixed):
        y, c = exe(x, b)
        assert np.allclose(y, np.e) and np.array_equal(c, np.maximum(b, 0))
    loop = lamina.compile(written(tmp_path, LOOP), threads=1, shapes={"x": [2, 4]})
    assert loop.benchmark(repeats=1).times


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ({"m": 3}, "'m': there is no such extent"),
        ({"y": [3, 4]}, "'y': a shape is given, but there is no such input"),
        ({"x": [3, 5]}, r"the shape \[3, 5\] does not fit"),
        ({"x": [3]}, r"the shape \[3\] does not fit"),
        ({"x": [3, 4], "n": 2}, "n = 2 is given, and n = 3 elsewhere"),
        ({"n": -1}, "-1 is no extent"),
    ],
)
def test_extents_that_do_not_fit_are_refused(tmp_path: Path, shapes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        lamina.compile(written(tmp_path, OPEN), shapes=shapes)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"count": np.int32(1)}, r"input 'x': missing; expected float32\[n, 4\]"),
        ({"count": np.int32(1), "x": np.ones((3, 5), np.float32)}, "input 'x' is float32"),
        ({"count": np.int64(1), "x": np.ones((3, 4), np.float32)}, "input 'count': int64 given, int32 expected"),
        ({"count": np.int32(1), "x": 1, "z": 2}, "input 'z': the model has no such input; it has count, x"),
    ],
)
def test_what_does_not_fit_the_machines_inputs_is_named(tmp_path: Path, inputs: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        lamina.compile(written(tmp_path, LOOP)).run(inputs)


def test_data_goes_in_and_out(tmp_path: Path) -> None:
    exe = lamina.compile(written(tmp_path, LIST), threads=1)
    assert exe.inputs[1].describe() == "!relay.adt<@List, tensor<2xf32>>"
    zero = np.zeros(2, np.float32)
    found = exe.run({"x": zero, "l": AdtValue("Nil")})["m"]
    assert found.constructor == "Cons" and np.array_equal(found.fields[0], np.ones(2))
    with pytest.raises(InputError, match="input 'l' holds Leaf of 0 fields"):
        exe.run({"x": zero, "l": AdtValue("Leaf")})


def test_a_module_is_a_source_and_stays_as_it_is() -> None:
    module = parse_text(LaminaContext(), CALLS, "calls.mlir")
    before = str(module)
    assert np.array_equal(lamina.compile(module)(np.ones(8, np.float32)), np.full((4, 2), 32, np.float32))
    assert str(module) == before
    with pytest.raises(UsageError, match="not int"):
        lamina.compile(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("func.func @main(", "net.mlir:1:17: "),
        ("func.func @f() { return }", "net.mlir: the module has no @main with a body; there is @f"),
        ("func.func private @main()", "net.mlir: the module has no @main with a body"),
        ("tir.func @main(%x: memref<8xf32>) { }", "net.mlir: the text is of the tir level"),
        (LOOP.replace("relay.tanh %x : tensor<?x4xf32", "relay.tanh %x : tensor<?x5xf32"), "net.mlir:8:"),
        ('module attributes {lamina.params = "../w"} { func.func @main() { return } }', "net.mlir:1:1: lamina.params"),
    ],
)
def test_a_wrong_text_is_one_line_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(LaminaError) as caught:
        lamina.compile(written(tmp_path, text))
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_the_command_runs_texts(tmp_path: Path) -> None:
    path = written(tmp_path, LOOP)
    status, out, err = command("run", path, "--shape", "n=2")
    assert status == 0 and out.startswith("r: float32[2, 4]") and "random values for count, x" in err
    status, out, _ = command("compile", path)
    assert status == 0 and "run by the machine" in out
    status, _, err = command("compile", path, "--emit", "te")
    assert status == 3 and "no text of the level te" in err
    status, _, err = command("run", path)
    assert status == 2 and "no values can be drawn for the input 'x'" in err
    status, _, err = command("check", path)
    assert status == 2 and "opt-tool" in err
    status, out, err = command("bench", path, "--shape", "n=2", "--repeats", "2")
    assert status == 0 and "it is no ONNX model" in out


def test_the_command_prints_data_and_keeps_it_out_of_files(tmp_path: Path) -> None:
    text = LIST.replace(", %l: !relay.adt<@List, tensor<2xf32>>)", ")").replace(
        "  %y =", "  %l = relay.construct Nil() : () -> !relay.adt<@List, tensor<2xf32>>\n  %y ="
    )
    path = written(tmp_path, text)
    zero = tmp_path / "x.npy"
    np.save(zero, np.zeros(2, np.float32))
    status, out, _ = command("run", path, "--input", zero)
    assert status == 0 and out == "m: Cons([1., 1.], Nil)\n"
    status, _, err = command("run", path, "--input", zero, "--output", tmp_path / "y.npz")
    assert status == 1 and "the output 'm' is no array" in err and not (tmp_path / "y.npz").exists()


# -- TVM's text format -------------------------------------------------------------------------------------------


def test_tvms_text_is_a_source_as_ours_is(tmp_path: Path) -> None:
    from lamina.compat import tvm

    weights = np.arange(-6, 6, dtype=np.float32).reshape(4, 3)
    x = tvm.relay.var("x", shape=(2, 3))
    body = tvm.relay.nn.relu(tvm.relay.nn.dense(x, tvm.relay.const(weights)))
    path = tmp_path / "net.relay"
    path.write_text(tvm.IRModule.from_expr(tvm.relay.Function([x], body)).astext())
    exe = lamina.compile(path)
    given = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(exe(given), np.maximum(given @ weights.T, 0), rtol=1e-5)
    assert [p.name for p in exe.inputs] == ["x"]
    assert lamina.compile(path).cached and "nn.relu" in lamina.load(path).ops()
    path.write_text(path.read_text().replace("nn.relu", "tanh"))
    changed = lamina.compile(path)
    assert not changed.cached
    np.testing.assert_allclose(changed(given), np.tanh(given @ weights.T), rtol=1e-5)


def test_control_flow_of_tvms_text_is_run_by_the_machine(tmp_path: Path) -> None:
    path = tmp_path / "net.rly"
    path.write_text(
        "def @main(%n: int32, %x: Tensor[(3), float32]) -> Tensor[(3), float32] {\n"
        "  if (greater(%n, 0)) { @main(subtract(%n, 1), add(%x, %x)) } else { %x }\n}\n"
    )
    exe = lamina.compile(path)
    np.testing.assert_array_equal(exe(np.array(3, np.int32), np.arange(3, dtype=np.float32)), [0, 8, 16])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "def @main(%x: Tensor[(1, 3), float32]) {\n  nn.relux(%x)\n}\n",
            "net.relay:2:3: there is no operator 'nn.relux'",
        ),
        (
            "def @f(%x: Tensor[(1, 3), float32]) {\n  nn.relu(%x)\n}\n",
            "the module has no @main with a body; there is @f",
        ),
        ("def @main(%x: Tensor[(1, 3), float32]) {\n  nn.relu(%y)\n}\n", "net.relay:2:11: "),
        ("func.func @main() { return }", "net.relay:1:1: "),
        ("", "net.relay"),
    ],
)
def test_mistakes_in_tvms_text_name_the_place(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "net.relay"
    path.write_text(text)
    out = io.StringIO()
    assert cli.run(["compile", str(path)], out, out) == 1
    said = out.getvalue()
    assert what in said and said.count("\n") == 1 and said.startswith("error: ")
