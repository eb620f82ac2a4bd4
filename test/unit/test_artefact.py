"""Compiled programs as files: what comes back computes the same without a pass, and what is no such file is refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import lamina
from lamina.driver import artefact
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.runtime.saved_file import SAVED_MAGIC

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "test" / "unit")]

from external_programs import needs_openblas  # noqa: E402

Array = np.ndarray[Any, np.dtype[Any]]

NET = """
func.func @main(%x: tensor<5x8xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
  %w = relay.constant dense<0.25> : tensor<6x8xf32>
  %d = relay.nn.dense %x, %w : (tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<5x6xf32>
  %r = relay.nn.relu %d : tensor<5x6xf32>
  %s = relay.nn.softmax %r {axis = 1 : i64} : tensor<5x6xf32>
  return %r, %s : tensor<5x6xf32>, tensor<5x6xf32>
}
"""
LOOP = """
func.func @loop(%i: tensor<i64>, %y: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %more = relay.greater %i, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %more -> tensor<4x8xf32> {
    %j = relay.subtract %i, %one : tensor<i64>
    %d = relay.nn.dense %y, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %t = relay.tanh %d : tensor<4x8xf32>
    %f = func.call @loop(%j, %t, %w) : (tensor<i64>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    relay.yield %f : tensor<4x8xf32>
  } else {
    relay.yield %y : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}
func.func @main(%i: tensor<i64>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = relay.constant dense<0.125> : tensor<8x8xf32>
  %f = func.call @loop(%i, %x, %w) : (tensor<i64>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %f : tensor<4x8xf32>
}
"""
OPEN = """
func.func @main(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  %y = relay.exp %x : tensor<?xf32, #relay.dims<n>>
  return %y : tensor<?xf32, #relay.dims<n>>
}
"""
DATA = """
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
func.func @main(%l: !relay.adt<@List, tensor<f32>>, %x: tensor<f32>) -> tensor<f32> {
  %r = relay.match %l : !relay.adt<@List, tensor<f32>> -> tensor<f32> {
    case Cons(%head: tensor<f32>, _) {
      %s = relay.add %head, %x : tensor<f32>
      relay.yield %s : tensor<f32>
    }
    case Nil {
      relay.yield %x : tensor<f32>
    }
  }
  return %r : tensor<f32>
}
"""


def compiled(folder: Path, text: str, target: str = "cpu", **how: Any) -> lamina.Executable:
    path = folder / "net.mlir"
    path.write_text(text)
    return lamina.compile(path, target, threads=1, **how)


def inputs(exe: lamina.Executable) -> dict[str, Array]:
    rng = np.random.default_rng(7)
    return {
        p.name: rng.uniform(-1, 1, p.shape).astype(p.dtype) if p.shape else np.array(3, p.dtype) for p in exe.inputs
    }


def equal(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], strict=True)


def no_passes(*_: object, **__: object) -> None:
    raise AssertionError("a pass runs")


@pytest.mark.parametrize("target", ["cpu", pytest.param("openblas, cpu", marks=needs_openblas)])
@pytest.mark.parametrize("text", [NET, LOOP], ids=["kernels", "machine"])
def test_a_loaded_program_computes_the_same_without_a_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, target: str
) -> None:
    exe, path = compiled(tmp_path, text, target), tmp_path / "net.lamina"
    exe.save(path)
    expected = exe.run(inputs(exe))
    os.remove(tmp_path / "net.mlir")
    monkeypatch.setattr("lamina.driver.pipelines.Pipeline.run", no_passes)
    loaded = lamina.Executable.load(path)
    assert loaded.inputs == exe.inputs and loaded.outputs == exe.outputs and repr(loaded) == repr(exe)
    equal(loaded.run(inputs(exe)), expected)
    assert ("dense" in loaded.placement) == (target != "cpu") and loaded.placement == exe.placement
    loaded.save(tmp_path / "again.lamina")
    assert (tmp_path / "again.lamina").read_bytes() == path.read_bytes()


def partitioned(folder: Path, text: str) -> Path:
    """A program whose functions of OpenBLAS a user has made before it is compiled."""
    from lamina.ir.context import LaminaContext
    from lamina.ir.parsing import parse_text
    from lamina.ir.pipeline import parse_pipeline

    passes = "relay-annotate-target{targets=openblas},relay-merge-compiler-regions,relay-partition-graph"
    ctx = LaminaContext()
    module = parse_text(ctx, text, "net.mlir")
    for p in parse_pipeline(passes):
        p.apply(ctx, module)
    (folder / "parted.mlir").write_text(str(module))
    return folder / "parted.mlir"


@needs_openblas
def test_the_machine_calls_functions_that_were_partitioned_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exe = lamina.compile(partitioned(tmp_path, LOOP), "cpu", threads=1)
    assert "func.call @tvmgen_default_openblas_loop_0" in exe.text("relay")
    assert "openblas: 1 region, 1 op (1 nn.dense)" in exe.placement
    given = inputs(exe)
    np.testing.assert_allclose(exe.run(given)["f"], compiled(tmp_path, LOOP).run(given)["f"], rtol=1e-5)
    exe.save(tmp_path / "net.lamina")
    saved = artefact.read(tmp_path / "net.lamina", [artefact.MACHINE])
    assert saved.external == ("openblas",) and not any("dense" in n for n in saved.contents.objects)
    monkeypatch.setattr("lamina.driver.pipelines.Pipeline.run", no_passes)
    loaded = lamina.Executable.load(tmp_path / "net.lamina")
    equal(loaded.run(given), exe.run(given))
    assert loaded.placement == exe.placement


def test_another_process_runs_what_this_one_saved(tmp_path: Path) -> None:
    """Nothing of the compiler is loaded there for a program of kernels, but the tables in which users register forms of
    ops and external backends."""
    exe = compiled(tmp_path, NET)
    exe.save(tmp_path / "net.lamina")
    np.savez(tmp_path / "in.npz", **inputs(exe))  # pyright: ignore[reportArgumentType]
    script = """
import sys, numpy as np, lamina
exe = lamina.Executable.load("net.lamina")
np.savez("out.npz", **exe.run(dict(np.load("in.npz"))))
tables = ("lamina.passes.relay.partition.external_backends", "lamina.passes.relay.layout.legal_forms")
passes = [m for m in sys.modules if m.startswith("lamina.passes.relay.") and hasattr(sys.modules[m], "__file__")]
passes = [m for m in passes if not any(t == m or t.startswith(f"{m}.") for t in tables)]
print(passes + [m for m in sys.modules if m.split(".")[0] == "onnx"])
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stdout + done.stderr
    equal(dict(np.load(tmp_path / "out.npz")), exe.run(inputs(exe)))


def test_code_for_all_sizes_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exe, path = compiled(tmp_path, OPEN), tmp_path / "net.lamina"
    x = np.linspace(0, 1, 5, dtype=np.float32)
    exe.save(path)
    monkeypatch.setattr("lamina.driver.pipelines.Pipeline.run", no_passes)
    loaded = lamina.Executable.load(path)
    for count in (5, 3, 1):
        np.testing.assert_allclose(loaded(x[:count]), np.exp(x[:count]), rtol=1e-6)


def test_code_for_shapes_that_were_met_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is none for all: extents without names have to be equal."""
    type_ = "tensor<?xf32>"
    text = f"""func.func @main(%x: {type_}, %y: {type_}) -> {type_} {{
      %s = relay.add %x, %y : ({type_}, {type_}) -> {type_}
      return %s : {type_}
    }}"""
    exe, path = compiled(tmp_path, text), tmp_path / "net.lamina"
    x = np.linspace(0, 1, 5, dtype=np.float32)
    expected = exe(x, x)
    exe.save(path)
    loaded = lamina.Executable.load(path)
    np.testing.assert_allclose(loaded(x[:3], x[:3]), 2 * x[:3], rtol=1e-6)  # one that was not: compiled now
    monkeypatch.setattr("lamina.driver.pipelines.Pipeline.run", no_passes)
    loaded = lamina.Executable.load(path)
    np.testing.assert_array_equal(loaded(x, x), expected)
    with pytest.raises(AssertionError, match="a pass runs"):
        loaded(x[:2], x[:2])


def test_data_types_come_back(tmp_path: Path) -> None:
    exe = compiled(tmp_path, DATA)
    exe.save(tmp_path / "net.lamina")
    loaded = lamina.Executable.load(tmp_path / "net.lamina")
    from lamina.vm.vm import AdtValue

    one, two = np.float32(1), np.float32(2)
    assert loaded.run({"l": AdtValue("Cons", one, AdtValue("Nil")), "x": two})["r"] == 3
    assert loaded.run({"l": AdtValue("Nil"), "x": two})["r"] == 2
    assert "relay.match" in loaded.text("relay")


def test_threads_are_those_of_the_file_or_of_the_call(tmp_path: Path) -> None:
    exe = compiled(tmp_path, NET)
    exe.save(tmp_path / "net.lamina")
    assert lamina.Executable.load(tmp_path / "net.lamina").threads == 1
    loaded = lamina.Executable.load(tmp_path / "net.lamina", threads=2)
    assert loaded.threads == 2
    equal(loaded.run(inputs(exe)), exe.run(inputs(exe)))
    with pytest.raises(UsageError, match="threads is a positive integer"):
        lamina.Executable.load(tmp_path / "net.lamina", threads=0)


def test_the_passes_of_a_context_come_back(tmp_path: Path) -> None:
    from lamina.transform import PassContext

    context = PassContext(1, ["relay-fast-math"], ["relay-simplify-expr"], config={"relay.FuseOps.max_depth": 3})
    exe = compiled(tmp_path, OPEN, opt_level=context)
    exe.save(tmp_path / "net.lamina")
    loaded = lamina.Executable.load(tmp_path / "net.lamina")
    assert str(loaded.context) == str(context) and loaded.pipeline == exe.pipeline


# -- files that are refused ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    exe = compiled(folder, NET)
    exe.save(folder / "net.lamina")
    return folder / "net.lamina"


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        lamina.Executable.load(path)
    assert caught.value.where == str(path) and "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("place", [48, 60, 79, 85, 120, 2000, -1])
def test_a_changed_byte_is_damage(saved: Path, tmp_path: Path, place: int) -> None:
    data = bytearray(saved.read_bytes())
    data[place] ^= 1
    (tmp_path / "net.lamina").write_bytes(data)
    assert "damaged" in refusal(tmp_path / "net.lamina")


@pytest.mark.parametrize("size", [48, 87, 88, 200, -1])
def test_half_a_file_is_damage(saved: Path, tmp_path: Path, size: int) -> None:
    (tmp_path / "net.lamina").write_bytes(saved.read_bytes()[:size])
    assert "damaged" in refusal(tmp_path / "net.lamina")


@pytest.mark.parametrize("count", [100, pytest.param(5000, marks=pytest.mark.long)])
def test_any_changed_byte_and_any_cut_is_damage(saved: Path, tmp_path: Path, count: int) -> None:
    whole = saved.read_bytes()
    random = np.random.default_rng(count)
    for n in range(count):
        data = bytearray(whole)
        if n % 10 == 0:
            del data[int(random.integers(len(SAVED_MAGIC), len(data))) :]
        else:
            data[int(random.integers(len(SAVED_MAGIC), len(data)))] ^= int(random.integers(1, 256))
        (tmp_path / "net.lamina").write_bytes(data)
        assert re.search(r"damaged|this Lamina reads", refusal(tmp_path / "net.lamina"))


@pytest.mark.parametrize("data", [b"", b"lamina", b"\x7fELF" + bytes(400), b"\x80\x04\x95" + bytes(99)])
def test_a_foreign_file_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "net.lamina").write_bytes(data)
    assert "no program that Lamina has saved" in refusal(tmp_path / "net.lamina")


def test_no_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "cannot read" in refusal(tmp_path / "none.lamina")
    assert "cannot read" in refusal(tmp_path)


def test_another_version_or_format_is_refused(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, here = saved.read_bytes(), lamina.__version__
    (tmp_path / "net.lamina").write_bytes(data.replace(b"format 3", b"format 7", 1))
    assert "is of 'format 7', this Lamina reads 3; compile the model again" in refusal(tmp_path / "net.lamina")
    monkeypatch.setattr(lamina, "__version__", "9.1")
    assert f"was saved by Lamina {here}, this is 9.1; compile the model again" in refusal(saved)


def test_code_for_another_machine_is_refused(tmp_path: Path, saved: Path) -> None:
    whole = artefact.read(saved, [artefact.PROGRAM])
    here = whole.settings
    for field, value, what in [
        ("triple", "x86_64-pc-windows-msvc", "code for x86_64-pc-windows-msvc cannot run here, on "),
        ("features", here.target.features + ",+avx99", "this machine lacks avx99"),
    ]:
        there = replace(here, target=here.target._replace(**{field: value}))
        artefact.write(tmp_path / "net.lamina", replace(whole, settings=there))
        assert what in refusal(tmp_path / "net.lamina")


def test_a_backend_that_is_not_here_is_named(tmp_path: Path, saved: Path) -> None:
    whole = artefact.read(saved, [artefact.PROGRAM])
    artefact.write(tmp_path / "net.lamina", replace(whole, external=("np-unit",)))
    assert "needs the external backend 'np-unit', which is not here" in refusal(tmp_path / "net.lamina")


def test_no_half_file_is_left_and_the_old_one_stays(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()
    exe = lamina.Executable.load(saved)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="net.lamina: cannot write: No space left on device"):
        exe.save(saved)
    assert saved.read_bytes() == before and [p.name for p in saved.parent.iterdir() if "tmp" in p.name] == []


def test_a_file_that_is_replaced_does_not_change_a_program_that_runs(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.lamina"
    path.write_bytes(saved.read_bytes())
    loaded = lamina.Executable.load(path)
    expected = loaded.run(inputs(loaded))
    whole = artefact.read(path, [artefact.PROGRAM])
    zeros = tuple(np.zeros_like(p) for p in whole.contents.params)
    artefact.write(path, replace(whole, contents=replace(whole.contents, params=zeros)))
    equal(loaded.run(inputs(loaded)), expected)
    other = lamina.Executable.load(path)
    assert any(not np.array_equal(a, expected[n]) for n, a in other.run(inputs(other)).items())


def test_a_model_for_each_shape_has_no_file(tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, "h", "w"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, None])
    pool = helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2])
    graph = helper.make_graph([pool, helper.make_node("Flatten", ["p"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    exe = lamina.compile(onnx.ModelProto.FromString(model.SerializeToString()))
    with pytest.raises(UnsupportedError, match=r"give the shapes: lamina.compile\(model, shapes="):
        exe.save(tmp_path / "net.lamina")


def test_a_program_is_no_model_and_has_no_texts(saved: Path) -> None:
    for use in (lamina.load, lamina.compile):
        with pytest.raises(UsageError, match="net.lamina: is a compiled program; lamina.Executable.load runs it"):
            use(saved)
    with pytest.raises(UnsupportedError, match="a saved program has no texts"):
        lamina.Executable.load(saved).text("relay")


def test_the_header_is_plain_json(saved: Path) -> None:
    """A file can be looked at without being run: no pickle, no code in the description."""
    data = saved.read_bytes()
    header = json.loads(data[88 : 88 + int.from_bytes(data[80:88], "little")])
    assert header["program"]["kind"] == "program" and header["program"]["contents"]["name"] == "main"
    assert data[:24] == b"lamina artefact\nformat 3"


# -- the command -----------------------------------------------------------------------------------------------


def command(*words: str) -> tuple[int, str]:
    from io import StringIO

    from lamina.cli.command import run

    out = StringIO()
    return run(words, out, out), out.getvalue()


def test_the_command_writes_and_runs_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.mlir").write_text(NET)
    status, said = command("compile", "net.mlir", "-o", "net.lamina", "--threads", "1")
    assert status == 0 and said.splitlines()[-1] == "net.lamina"
    assert sorted(os.listdir()) == ["net.lamina", "net.mlir"]
    np.savez("in.npz", x=np.ones((5, 8), np.float32))
    status, said = command("run", "net.lamina", "--input", "in.npz", "--output", "out.npz", "--profile")
    assert status == 0 and "fused_nn_softmax" in said
    np.testing.assert_array_equal(np.load("out.npz")["r"], np.full((5, 6), 2, np.float32))
    status, said = command("bench", "net.lamina", "--repeats", "3", "--seconds", "0.01")
    assert status == 0 and "nothing to compare with" in said


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("run", "net.lamina", "--target", "openblas, cpu"), "--target is for models; net.lamina is compiled"),
        (("run", "net.lamina", "--opt-level", "1"), "--opt-level is for models"),
        (("bench", "net.lamina", "--shape", "x=2"), "--shape is for models"),
        (("compile", "net.lamina"), "is a compiled program"),
        (("compile", "net.mlir", "-o", "x.lamina", "--emit", "tir"), "--emit writes texts; x.lamina would hold"),
        (("run", "none.lamina"), "none.lamina: cannot read: No such file"),
        (("check", "net.lamina"), "is a compiled program"),
    ],
)
def test_mistakes_with_programs_are_one_line(
    saved: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], what: str
) -> None:
    monkeypatch.chdir(saved.parent)
    status, said = command(*words)
    assert status in (1, 2) and what in said and said.count("\n") == 1 and said.startswith("error: ")


def test_every_refusal_is_a_lamina_error(saved: Path, tmp_path: Path) -> None:
    """Bytes changed anywhere, headers of lies among them: one line, never a traceback."""
    rng = np.random.default_rng(3)
    data = np.frombuffer(saved.read_bytes(), np.uint8)
    for _ in range(60):
        changed = data.copy()
        at = rng.integers(0, len(data), 4)
        changed[at] = rng.integers(0, 256, 4)
        (tmp_path / "net.lamina").write_bytes(changed.tobytes())
        if np.array_equal(changed, data):
            continue
        with pytest.raises(LaminaError):
            lamina.Executable.load(tmp_path / "net.lamina")
