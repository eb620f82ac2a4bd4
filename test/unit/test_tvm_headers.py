"""Callers of TVM's C and C++ interface run exported nets and kernels: our headers under TVM's paths, and no library."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina
from lamina.backends.cpu.machines import processor
from lamina.cli.command import run
from lamina.compat import tvm
from lamina.compat.tvm import relay, te
from lamina.errors import InputError, UnsupportedError
from lamina.runtime.exported import is_net
from tools.header import PATH as HEADER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not processor().triple.startswith("x86_64"), reason="libraries of x86-64 are loaded"),
]

INPUTS = Path(__file__).parent / "inputs" / "deploy"
INCLUDE = HEADER.parent
CXX, CC = shutil.which("g++"), shutil.which("cc")
needs_cxx = pytest.mark.skipif(CXX is None, reason="there is no C++ compiler `g++`")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler `cc`")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-I", str(INCLUDE)]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover"]
Array = np.ndarray[Any, np.dtype[Any]]


def built(compiler: str | None, standard: str, source: Path, folder: Path, *files: Path, checked: bool = True) -> Path:
    """The program of a source file; checked, it stops at a leak and a wrong access, where the compiler can do that."""
    assert compiler is not None
    program = folder / "program"
    words = [compiler, f"-std={standard}", *WARNINGS, str(source), "-o", str(program), *map(str, files)]
    options = [*(SANITIZERS if checked else []), "-ldl", "-lpthread"]
    end = subprocess.run([*words, *options], capture_output=True, text=True, check=False)
    if checked and end.returncode and "asan" in end.stderr:  # the compiler's own library is not there
        return built(compiler, standard, source, folder, *files, checked=False)
    assert end.returncode == 0, end.stderr
    return program


def said(program: Path, *words: Path) -> list[str]:
    end = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert end.returncode == 0, end.stderr
    return end.stdout.splitlines()


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Array]:
    """A folder with the library `net.so` of a model, its parameters and its input; and the result by numpy."""
    folder = tmp_path_factory.mktemp("net")
    random = np.random.default_rng(0)
    data, weight = (np.asarray(random.standard_normal(shape), np.float32) for shape in ((4, 8), (5, 8)))
    x, w = relay.var("x", shape=(4, 8)), relay.var("w", shape=(5, 8))
    model = tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.softmax(relay.nn.dense(x, w))))
    relay.build(model, "llvm", params={"w": weight}).export_library(folder / "net.so")
    (folder / "net.params").write_bytes(relay.save_param_dict({"w": weight}))
    data.tofile(folder / "x.raw")
    powers = np.exp(data.astype(np.float64) @ weight.T)
    return folder, powers / powers.sum(1, keepdims=True)


TOLD_OF_NETS = """\
the value is an integer, not a text
the function takes 2 arguments, not 1
there is a global function 'scaled' already
set_input: the net 'default' has no input 'image': it has x; weights are part of it
set_input: the net 'default' has no input 7: it has 1
set_input: argument 1 is an integer, not a tensor
set_input: an input is a name or a number, not a float
set_input: takes 2 arguments, not 1
input 'x' of the net 'default': the shape of a tensor is another than its port's (float32[4, 8], not float32[4, 7])
input 'x' of the net 'default': the elements of a tensor are of another type than its port's \
(float32[4, 8], not float64[4, 8])
output 'out0' of the net 'default': the shape of a tensor is another than its port's (float32[4, 5], not float32[4, 8])
get_output: the net 'default' has no output 1: it has 1
run: takes no arguments, not 1
this function is null: its module has none of the name that was asked for
there is no device 0 of type 2: nets and arrays are on the processor, {kDLCPU, 0}
net 'default': is called on a device, or on 1 inputs and 1 outputs, not on 3 arguments
there is no device 0 of type 2: nets and arrays are on the processor, {kDLCPU, 0}
there is no array of 1 dimensions with such extents
the tensor has 128 bytes, there are 4 to copy
a view has no more bytes than the array, whose elements lie one behind the other
nowhere/net.so: cannot be read
/bin/sh: is no library that Lamina has exported: it has 0 symbols lamina_<net>, not one
net.so: libraries are loaded, of the format "so", not "o"
damaged.so: is damaged: it is not what was written: copy it anew
there is no module to ask for a function default
the value is an integer, not a text
runtime.SystemLib: no net is linked into this program: LAMINA_SYSTEM_LIB(net) enters one
'w': this weight is part of the library, and has another value there
load_params: the parameters end too early
load_params: the parameters end too early
net 'default': output 'out0' shares memory with 'x'"""


@needs_cxx
@pytest.mark.parametrize(("standard", "source"), [("c++17", "graph_executor.cc"), ("c++11", "c_interface.c")])
def test_no_warnings_by_other_standards(standard: str, source: str) -> None:
    words = [str(CXX), "-xc++", f"-std={standard}", *WARNINGS, "-fsyntax-only", str(INPUTS / source)]
    end = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (end.returncode, end.stderr) == (0, "")


@needs_cxx
def test_a_graph_executor_in_cxx(net: tuple[Path, Array], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, expected = net
    program = built(CXX, "c++14", INPUTS / "graph_executor.cc", tmp_path)
    library = tmp_path / "renamed since.so"
    shutil.copyfile(folder / "net.so", library)
    code = bytearray(library.read_bytes())
    code[code.index(b"softmax")] ^= 1  # in the texts of its tables
    (tmp_path / "damaged.so").write_bytes(code)
    monkeypatch.chdir(tmp_path)
    told = said(program, library, Path("damaged.so"), folder / "net.params", folder / "x.raw", tmp_path / "y.raw")
    assert told == TOLD_OF_NETS.splitlines()
    found = np.fromfile(tmp_path / "y.raw", np.float32).reshape(4, 5)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@needs_cc
def test_a_graph_executor_in_c(net: tuple[Path, Array], tmp_path: Path) -> None:
    folder, expected = net
    program = built(CC, "c99", INPUTS / "c_interface.c", tmp_path)
    assert said(program, folder / "net.so", folder / "x.raw", tmp_path / "y.raw") == ["twice takes an integer"]
    found = np.fromfile(tmp_path / "y.raw", np.float32).reshape(4, 5)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


ARM = shutil.which("arm-linux-gnueabihf-gcc"), shutil.which("qemu-arm")


@pytest.mark.skipif(None in ARM, reason="there is no arm-linux-gnueabihf-gcc, or no qemu-arm")
def test_a_graph_executor_on_a_machine_of_32_bits(net: tuple[Path, Array], tmp_path: Path) -> None:
    folder, _ = net
    text = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4x5xf32> {
  %s = relay.strided_slice %x {begin = [0, 3], end = [4, 8]} : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %y = relay.nn.relu %s : tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}"""
    (tmp_path / "net.mlir").write_text(text)
    lamina.export(tmp_path / "net.mlir", tmp_path / "net.so", "armv7", threads=2)
    program = built(ARM[0], "c99", INPUTS / "c_interface.c", tmp_path, checked=False)
    start = tmp_path / "start"
    start.write_text(f'#!/bin/sh\nexec {ARM[1]} -cpu max -L /usr/arm-linux-gnueabihf {program} "$@"\n')
    start.chmod(0o700)
    assert said(start, tmp_path / "net.so", folder / "x.raw", tmp_path / "y.raw") == ["twice takes an integer"]
    x = np.fromfile(folder / "x.raw", np.float32).reshape(4, 8)
    found = np.fromfile(tmp_path / "y.raw", np.float32).reshape(4, 5)
    np.testing.assert_array_equal(found, np.maximum(x[:, 3:], 0))


def add_one(length: Any, name: str) -> Any:
    a = te.placeholder((length,), name="A")
    b = te.compute(a.shape, lambda *i: a(*i) + 1.0, name="B")
    return tvm.build(te.create_schedule(b.op), [a, b], "llvm", name=name)


def weighted() -> Any:
    """A kernel whose size is an argument, with numbers of two types."""
    n, a, k = te.var("n"), te.var("a", "float32"), te.var("k", "int32")
    x = te.placeholder((n,), name="x")

    def element(i: Any) -> Any:
        return a * x[i] + k.astype("float32")

    y = te.compute((n,), element, name="y")
    return tvm.build(te.create_schedule(y.op), [n, a, k, x, y], "llvm", name="weighted")


TOLD_OF_KERNELS = """\
net 'addone': 'B' has 4 in dimension 0, but n = 3
net 'addone': output 'B' shares memory with 'A'
net 'addone': is called on a device, or on 1 inputs and 1 outputs, not on 1 arguments
net 'addone': its extents are those of a call: call it on tensors, not on a device
output 'B' of the net 'addone': the elements of a tensor are of another type than its port's (float32[-1], not int32[3])
net 'weighted': 'x' has 3 in dimension 0, but n = 4
input 'k' of the net 'weighted': the number is none of type int32[]
weighted: argument 1 is a text, not a tensor
a module cannot import itself"""


@needs_cxx
def test_kernels_in_cxx(tmp_path: Path) -> None:
    """In a library, and linked into the program; of open extents."""
    add_one(te.var("n"), "addone").export_library(tmp_path / "addone.so")
    add_one(te.var("n"), "addone2").export_library(tmp_path / "other.so")
    files = tmp_path / "addonesys.a", tmp_path / "weighted.a"
    add_one(te.var("n"), "addonesys").export_library(files[0])
    weighted().export_library(files[1])
    program = built(CXX, "c++14", INPUTS / "kernels.cc", tmp_path, *files)
    assert said(program, tmp_path / "addone.so", tmp_path / "other.so") == TOLD_OF_KERNELS.splitlines()


def test_the_library_of_a_kernel_is_loaded_in_python(tmp_path: Path) -> None:
    add_one(te.var("n"), "addone").export_library(tmp_path / "k.so")
    loaded = tvm.runtime.load_module(tmp_path / "k.so")
    for length in (3, 70):
        x, y = np.arange(length, dtype=np.float32), np.zeros(length, np.float32)
        loaded(x, y)
        np.testing.assert_array_equal(y, x + 1)
    with pytest.raises(UnsupportedError, match="k.so: is a kernel whose extents are those of a call"):
        lamina.ExportedNet(tmp_path / "k.so")


def test_a_kernel_of_another_order_stays_in_our_format(tmp_path: Path) -> None:
    """With its outputs first, or an extent that is computed, C could not call it."""
    n = te.var("n")
    a = te.placeholder((n * 2,), name="A")

    def element(i: Any) -> Any:
        return a[i * 2]

    b = te.compute((n,), element, name="B")
    schedule = te.create_schedule(b.op)
    for order in ([b, a], [a, b]):
        kernel: Any = tvm.build(schedule, order, "llvm", name="even")
        kernel.export_library(tmp_path / "k.so")
        assert not is_net(tmp_path / "k.so")
        x, y = np.arange(6, dtype=np.float32), np.zeros(3, np.float32)
        tvm.runtime.load_module(tmp_path / "k.so")(*((y, x) if order[0] is b else (x, y)))
        assert y.tolist() == [0, 2, 4]


def test_a_damaged_library_of_a_kernel_is_refused(tmp_path: Path) -> None:
    add_one(10, "addone").export_library(tmp_path / "k.so")
    data = bytearray((tmp_path / "k.so").read_bytes())
    data[data.index(b"tensor.kernel") + 40] ^= 1
    (tmp_path / "k.so").write_bytes(data)
    with pytest.raises(InputError, match="k.so: is damaged"):
        tvm.runtime.load_module(tmp_path / "k.so")


OPEN = """#include <cstdio>
#include <dlpack/dlpack.h>
#include <tvm/runtime/module.h>
#include <tvm/runtime/packed_func.h>
int main(int, char **words) {
  try {
    tvm::runtime::Module library = tvm::runtime::Module::LoadFromFile(words[1]);
    library.GetFunction("default")(DLDevice{kDLCPU, 0});
  } catch (const std::exception &error) {
    std::printf("%s", error.what());
  }
  return 0;
}
"""


@needs_cxx
def test_a_net_of_open_extents_is_no_graph_executor(tmp_path: Path) -> None:
    (tmp_path / "open.cc").write_text(OPEN)
    info = helper.make_tensor_value_info
    ports = [info("x", TensorProto.FLOAT, ["n", 4])], [info("y", TensorProto.FLOAT, ["n", 4])]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", *ports)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    lamina.export(model, tmp_path / "net.so", name="default", threads=1)
    program = built(CXX, "c++14", tmp_path / "open.cc", tmp_path)
    assert "net 'default': it has open extents: `run_shapes` of lamina.h runs it" in "".join(
        said(program, tmp_path / "net.so")
    )


def test_the_folder_of_headers() -> None:
    out = io.StringIO()
    assert run(["info", "--include"], out, io.StringIO()) == 0
    assert (Path(out.getvalue().strip()) / "tvm" / "runtime" / "module.h").is_file()
