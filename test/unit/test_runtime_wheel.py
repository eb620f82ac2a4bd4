"""`lamina-runtime` runs what the compiler wrote, in a process that has no compiler."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu.machines import processor
from lamina.runtime.exported import read_net
from tools.import_graph import imports_of, modules

ROOT = Path(__file__).parents[2]
WHEEL = ROOT / "tools/runtime_wheel"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not processor().triple.startswith("x86_64"), reason="libraries of x86-64 are loaded"),
]

ONLY_WITH_THE_COMPILER = {
    "lamina.backends.cpu.figures": "the figures of a machine, for schedules",
    "lamina.backends.cpu.link": "LLVM's linker, where the compiler is there",
    "lamina.backends.cpu.runtime.modules": "the run-time as text, where the compiler is there",
    "lamina.dialects.target": "the target as an attribute",
    "lamina.frontends.formats": "suffixes of texts",
    "lamina.interpreters.external": "calls of external backends, whose programs are refused",
}
"""Imports inside functions of the wheel's files that are not in it, and when they are reached."""

BLOCKED = """
import sys, json
import numpy as np

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("lamina", "xdsl", "llvmlite", "onnx", "ml_dtypes"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocked())
sys.path.insert(0, sys.argv[1])
import lamina_runtime

def said(path, **how):
    try:
        lamina_runtime.load(path, **how)
    except lamina_runtime.LaminaError as e:
        return str(e)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package alone."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, check=True, capture_output=True, cwd=WHEEL)
    (wheel,) = folder.glob("lamina_runtime-*-py3-none-any.whl")
    assert wheel.stat().st_size < 2 << 20
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder / "site")
    return folder / "site"


def in_process(installed: Path, script: str, *words: object) -> str:
    command = [sys.executable, "-c", BLOCKED + script, str(installed), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


TEXT = """func.func @main(%x: tensor<3x40xf32>, %h: tensor<3x40xf16>) -> (tensor<3xf32>, tensor<3x40xf16>) {
  %y = relay.nn.softmax %x {axis = -1 : i64} : (tensor<3x40xf32>) -> tensor<3x40xf32>
  %s = relay.max %y {axis = [1]} : (tensor<3x40xf32>) -> tensor<3xf32>
  %e = relay.exp %h : (tensor<3x40xf16>) -> tensor<3x40xf16>
  return %s, %e : tensor<3xf32>, tensor<3x40xf16>
}"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program for two threads in both forms, inputs, and what it gives.

    Without F16C a kernel calls the run-time's conversions of 16-bit floats.
    """
    folder = tmp_path_factory.mktemp("net")
    (folder / "m.mlir").write_text(TEXT)
    exe = lamina.compile(folder / "m.mlir", target="x86-64-v2", threads=2)
    exe.save(folder / "net.lamina", notes={"classes": 3})
    exe.export(folder / "net.so")
    random = np.random.default_rng(0)
    x, h = random.standard_normal((3, 40), np.float32), random.standard_normal((3, 40)).astype(np.float16)
    np.savez(folder / "inputs.npz", x=x, h=h)
    np.savez(folder / "outputs.npz", *exe.run({"x": x, "h": h}).values())
    return folder


@pytest.mark.parametrize("suffix", ["so", "lamina"])
def test_it_runs_what_the_compiler_wrote(suffix: str, installed: Path, files: Path) -> None:
    script = """
inputs, expected = dict(np.load(sys.argv[3])), np.load(sys.argv[4])
for threads in (None, 1, 3):
    with lamina_runtime.load(sys.argv[2], threads, verify=True) as net:
        for _ in range(3):
            assert [r.tobytes() for r in net.run(inputs).values()] == [expected[k].tobytes() for k in expected]
        assert [r.tobytes() for r in net(inputs["x"], inputs["h"])] == [expected[k].tobytes() for k in expected]
        assert net.session().run(inputs).keys() == net.run(inputs).keys()
print(json.dumps([net.inputs[0].name, list(net.inputs[0].shape), net.target.cpu]))
print(type(net).__name__)
try:
    net.run({"x": inputs["h"], "h": inputs["h"]})
except lamina_runtime.LaminaError as e:
    print(e)
"""
    words = [files / f"net.{suffix}", files / "inputs.npz", files / "outputs.npz"]
    said = in_process(installed, script, *words).splitlines()
    assert said == [
        '["x", [3, 40], "x86-64-v2"]',
        "ExportedNet" if suffix == "so" else "SavedNet",
        "input 'x': float16 given, float32 expected; convert it with astype",
    ]


def test_it_packs_the_weights_of_a_small_library(installed: Path, tmp_path: Path) -> None:
    info = helper.make_tensor_value_info
    random = np.random.default_rng(0)
    w = numpy_helper.from_array(random.integers(-9, 9, (64, 130)).astype(np.int8), "w")
    scale = numpy_helper.from_array(np.asarray(0.5, np.float32), "s")
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"]), helper.make_node("MatMul", ["x", "d"], ["y"])]
    ends = [info("x", TensorProto.FLOAT, [2, 64])], [info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", *ends, [w, scale])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    lamina.export(model, tmp_path / "net.so", threads=1, small=True)
    assert "packs" in read_net(tmp_path / "net.so").description
    np.save(tmp_path / "x.npy", x := random.integers(-9, 9, (2, 64)).astype(np.float32))
    script = "print(json.dumps(lamina_runtime.load(sys.argv[2])(np.load(sys.argv[3])).tolist()))"
    said = in_process(installed, script, tmp_path / "net.so", tmp_path / "x.npy")
    assert json.loads(said) == (x @ (numpy_helper.to_array(w) * np.float32(0.5))).tolist()


def test_what_it_refuses(installed: Path, files: Path, tmp_path: Path) -> None:
    whole = (files / "net.lamina").read_bytes()
    (tmp_path / "cut.lamina").write_bytes(whole[:-100])
    (tmp_path / "other.lamina").write_bytes(b"lamina artefact\n" + b"format 1".ljust(32) + whole[48:])
    (tmp_path / "text").write_text("no program")
    lamina.export(files / "m.mlir", tmp_path / "arm.so", target="aarch64")
    names = ["cut.lamina", "other.lamina", "text", "arm.so", "none.so"]
    script = "for path in sys.argv[2:]: print(said(path))"
    said = in_process(installed, script, *(tmp_path / n for n in names)).splitlines()
    messages = [line.removeprefix(f"{tmp_path / name}: ") for line, name in zip(said, names, strict=True)]
    assert messages == [
        "is damaged: it is not what was written; copy it anew, or compile the model again",
        "is of 'format 1', this Lamina reads 3; compile the model again",
        "is no program that Lamina has saved; `lamina compile MODEL -o FILE.lamina` and Executable.save write them",
        "code for aarch64 cannot run here: this machine is x86_64; compile with target 'cpu'",
        "cannot read: No such file or directory",
    ]


def test_its_files_import_nothing_else_but_what_is_named_here() -> None:
    show = "import sys, lamina.runtime.load; print(*(m for m in sys.modules if m.startswith('lamina')))"
    said = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True).stdout
    there, files = set(said.split()), modules()
    absent = {i.module for name in there - {"lamina"} for i in imports_of(name, files) if not i.for_types}
    assert absent - there == set(ONLY_WITH_THE_COMPILER)
