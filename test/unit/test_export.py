"""Exported nets give what the program gives, to the bit, from C and from Python; what is no such file is refused."""

from __future__ import annotations

import ctypes
import io
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina import Executable
from lamina.backends.cpu.machines import processor
from lamina.backends.cpu.runtime.interface import CODES, NET, CNet, record_bytes
from lamina.driver.export import link_object, net_name
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.passes.tir_to_llvm import buffers
from lamina.runtime.exported import ExportedNet, read_net
from tools.header import PATH as HEADER
from tools.header import header

from .emulated_machines import EMULATED, RUN_NET, run_net

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not processor().triple.startswith("x86_64"), reason="libraries of x86-64 are loaded"),
]

ROOT = Path(__file__).parents[2]
CC = shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler `cc`")
Array = np.ndarray[Any, np.dtype[Any]]


def model(seed: int) -> Any:
    """A small network, another by each seed: a convolution, a sum or a softmax, and integers that must not be zero."""
    random = np.random.default_rng(seed)
    channels, size = int(random.integers(3, 20)), int(random.integers(7, 40))
    w = random.standard_normal((channels, 3, 3, 3)).astype(np.float32)
    last = helper.make_node("Softmax", ["r"], ["y"], axis=1)
    if seed % 2:
        last = helper.make_node("ReduceSum", ["r"], ["y"], keepdims=0)
    nodes = [
        helper.make_node("Conv", ["image", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        last,
        helper.make_node("Gather", ["r", "places"], ["picked"], axis=1),
        helper.make_node("Div", ["hundred", "places"], ["quotients"]),
    ]
    info = helper.make_tensor_value_info
    inputs = [info("image", TensorProto.FLOAT, [1, 3, size, size]), info("places", TensorProto.INT64, [2])]
    outputs = [info("y", TensorProto.FLOAT, None), info("picked", TensorProto.FLOAT, None)]
    outputs.append(info("quotients", TensorProto.INT64, None))
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(np.asarray(100, np.int64), "hundred")]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def drawn(exe: Executable | ExportedNet, seed: int = 0) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    image: Array = np.asarray(random.standard_normal(exe.inputs[0].shape), np.float32)
    return {"image": image, "places": np.asarray([2, 1], np.int64)}


@pytest.fixture(scope="module")
def exe(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """A program for two threads, and its library."""
    path = tmp_path_factory.mktemp("net") / "small.so"
    exe = lamina.compile(model(0), threads=2)
    exe.export(path)
    return exe, path


def built(source: Path | str, folder: Path, *options: str, files: Sequence[str] = ()) -> Path:
    """A program of a C file, or of its text, and of files that are linked with it."""
    assert CC is not None
    if isinstance(source, str):
        source, text = folder / "main.c", source
        source.write_text(text)
    program = folder / "program"
    words = [CC, "-Wall", "-Wextra", "-Werror", "-std=c11", "-D_GNU_SOURCE", *options]
    subprocess.run([*words, "-I", str(HEADER.parent), str(source), "-o", str(program), *files, "-ldl"], check=True)
    return program


@needs_cc
def test_a_c_program_computes_the_same_to_the_bit(tmp_path: Path) -> None:
    program = built(RUN_NET, tmp_path)
    for seed in range(4):
        exe = lamina.compile(model(seed), threads=1 + seed // 2)
        path = tmp_path / f"net{seed}.so"
        exe.export(path, "of_mine")
        inputs = drawn(exe, seed)
        for threads in (1, 2):
            found = run_net([program], path, "of_mine", threads, list(inputs.values()), exe.outputs)
            for array, expected in zip(found, exe.run(inputs).values(), strict=True):
                assert array.tobytes() == expected.tobytes()


@needs_cc
def test_what_the_c_program_is_told_of_mistakes(exe: tuple[Any, Path], tmp_path: Path) -> None:
    program = built(RUN_NET, tmp_path)
    inputs = drawn(exe[0])
    inputs["places"][0] = 0
    files = [str(tmp_path / f"{n}.raw") for n in range(5)]
    for file, array in zip(files, inputs.values(), strict=False):
        array.tofile(file)

    def said(*words: str) -> str:
        end = subprocess.run([program, *words], capture_output=True, text=True, check=False)
        assert end.returncode == 1
        return end.stderr

    with pytest.raises(InputError) as error:
        exe[0].run(inputs)
    assert said(str(exe[1]), "small", "2", "1", *files) == f"error: {exe[1]}: {error.value.what}\n"
    assert "another number of inputs and outputs" in said(str(exe[1]), "small", "2", "1", *files[1:])
    assert "undefined symbol: lamina_other" in said(str(exe[1]), "other", "2", "1", *files)
    assert "cannot read it whole" in said(str(exe[1]), "small", "2", "1", files[1], *files[1:])


TWO_NETS = """#include <stdio.h>
#include <stdlib.h>
#include "lamina.h"
extern const lamina_net lamina_first, lamina_second;
static void run(const lamina_net *net, const float *image, uint32_t threads) {
  const int64_t places[2] = {2, 1};
  const void *in[2] = {image, places};
  void *out[3];
  uint64_t bytes;
  for (uint32_t n = 0; n < net->n_outputs; n++) out[n] = malloc(net->outputs[n].bytes);
  net->sizes(NULL, threads, NULL, &bytes);
  void *state = aligned_alloc(64, bytes);
  if (net->start(state, NULL, threads, LAMINA_SPINS) || net->run(state, in, out)) abort();
  net->stop(state);
  fwrite(out[0], 1, net->outputs[0].bytes, stdout);
}
int main(void) {
  float *image = malloc(lamina_first.inputs[0].bytes);
  for (uint64_t n = 0; n < lamina_first.inputs[0].bytes / 4; n++) image[n] = (float)(n % 13) - 6;
  run(&lamina_first, image, 2);
  run(&lamina_second, image, 1);
  return 0;
}
"""


@needs_cc
def test_two_nets_are_linked_into_one_program(tmp_path: Path) -> None:
    """An archive for two threads and an object for one: neither sees what the other has."""
    lamina.export(model(0), tmp_path / "first.a", threads=2)
    lamina.export(model(0), tmp_path / "second.o", threads=1)
    files = [str(tmp_path / "first.a"), str(tmp_path / "second.o"), "-lpthread", "-lm", "-Wl,--fatal-warnings"]
    said = subprocess.run([built(TWO_NETS, tmp_path, files=files)], check=True, capture_output=True).stdout
    exe = lamina.compile(model(0), threads=1)
    size = exe.inputs[0].shape
    image = (np.arange(np.prod(size)) % 13 - 6).astype(np.float32).reshape(size)
    expected = exe.run({"image": image, "places": np.asarray([2, 1])})["y"].tobytes()
    assert said == expected + expected
    names = subprocess.run(["nm", "-g", str(tmp_path / "first.a")], check=True, capture_output=True, text=True).stdout
    defined = {line.split()[2] for line in names.splitlines() if len(line.split()) == 3}
    assert defined == {"lamina_first"}


@pytest.mark.parametrize("machine", EMULATED)
def test_a_library_for_another_machine_runs_in_an_emulator(machine: str, tmp_path: Path) -> None:
    emulated, program = EMULATED[machine], tmp_path / "program"
    emulated.needs_tools()
    emulated.build(RUN_NET, program)
    start = emulated.started(program)
    for seed, threads in ((0, 1), (1, 2), (2, 2)):
        path = tmp_path / f"net{seed}.so"
        lamina.export(model(seed), path, machine, threads=threads, name="net")
        exe = lamina.compile(model(seed), threads=1)
        inputs = drawn(exe, seed)
        found = run_net(start, path, "net", threads, list(inputs.values()), exe.outputs)
        for array, expected in zip(found, exe.run(inputs).values(), strict=True):
            np.testing.assert_allclose(array, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    # The object of the last one, linked here as TVM's users load an archive.
    lamina.export(model(2), tmp_path / "net.o", machine, threads=2, name="net")
    link_object(memoryview((tmp_path / "net.o").read_bytes()), tmp_path / "linked.so", "net.o")
    again = run_net(start, tmp_path / "linked.so", "net", 2, list(inputs.values()), exe.outputs)
    assert [a.tobytes() for a in again] == [a.tobytes() for a in found]


DLPACK = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#define DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1, kDLCUDA = 2 } DLDeviceType;
typedef struct { DLDeviceType device_type; int32_t device_id; } DLDevice;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct { void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape; int64_t *strides;
                 uint64_t byte_offset; } DLTensor;
"""


@needs_cc
def test_tensors_of_dlpack_are_checked(exe: tuple[Any, Path], tmp_path: Path) -> None:
    size = exe[0].inputs[0].shape[-1]
    text = f"""#include <stdint.h>
{DLPACK}
#include "lamina.h"
int main(int count, char **words) {{
  (void)count;
  const lamina_net *net = (const lamina_net *)dlsym(dlopen(words[1], RTLD_NOW), "lamina_small");
  uint64_t bytes; int64_t y_shape[4], p_shape[4], q_shape[1], *shapes[3] = {{y_shape, p_shape, q_shape}};
  net->sizes(NULL, 1, shapes, &bytes);
  void *state = aligned_alloc(64, bytes);
  net->start(state, NULL, 1, 0);
  float *image = calloc({3 * size * size} + 1, 4);
  int64_t places[2] = {{2, 1}}, image_shape[4] = {{1, 3, {size}, {size}}}, places_shape[1] = {{2}};
  int64_t strides[4] = {{0, {size * size}, {size}, 1}};
  DLTensor a = {{image, {{kDLCPU, 0}}, 4, {{2, 32, 1}}, image_shape, strides, 0}};
  DLTensor b = {{places, {{kDLCPU, 0}}, 1, {{0, 64, 1}}, places_shape, NULL, 0}};
  DLTensor y = {{malloc(net->outputs[0].bytes), {{kDLCPU, 0}}, 4, {{2, 32, 1}}, y_shape, NULL, 0}};
  DLTensor p = {{malloc(net->outputs[1].bytes), {{kDLCPU, 0}}, 4, {{2, 32, 1}}, p_shape, NULL, 0}};
  DLTensor q = {{malloc(net->outputs[2].bytes), {{kDLCPU, 0}}, 1, {{0, 64, 1}}, q_shape, NULL, 0}};
  const DLTensor *in[2] = {{&a, &b}};
  DLTensor *out[3] = {{&y, &p, &q}};
  void *room[5];
#define TRY(change, back) change; printf("%d ", lamina_run_dl(net, state, in, out, room)); back
  TRY(, );
  TRY(a.device.device_type = kDLCUDA, a.device.device_type = kDLCPU);
  TRY(a.dtype.code = 1, a.dtype.code = 2);
  TRY(b.dtype.bits = 32, b.dtype.bits = 64);
  TRY(a.ndim = 3, a.ndim = 4);
  TRY(image_shape[2] += 1, image_shape[2] -= 1);
  TRY(strides[2] += 1, strides[2] -= 1);
  TRY(y.byte_offset = 2, y.byte_offset = 0);
  TRY(a.byte_offset = 4, a.byte_offset = 0);
  printf("%s\\n", net->text(-5));
  return 0;
}}
"""
    program = built(text, tmp_path)
    said = subprocess.run([program, exe[1]], check=True, capture_output=True, text=True).stdout
    texts = {c.number: c.text for c in CODES}
    assert said == f"0 -3 -4 -4 -5 -5 -6 -7 0 {texts[-5]}\n"


@needs_cc
def test_a_caller_of_an_older_header_finds_its_members(exe: tuple[Any, Path], tmp_path: Path) -> None:
    """One that knows a shorter record: all members up to `run`."""
    older = re.sub(r"  /\* end the threads of a state \*/.*?(?=\} lamina_net;)", "", header(), flags=re.S)
    older = re.sub(r"/\* Whether (`pack`|extents).*?\n}\n", "", older, flags=re.S)
    assert "(*stop)" not in older and "(*run)" in older
    (tmp_path / "older.h").write_text(older)
    text = """#include <dlfcn.h>
#include <stdio.h>
#include "older.h"
int main(int count, char **words) {
  (void)count;
  const lamina_net *net = (const lamina_net *)dlsym(dlopen(words[1], RTLD_NOW), "lamina_small");
  uint64_t bytes;
  net->sizes(NULL, 1, NULL, &bytes);
  printf("%d %d %d\\n", lamina_check(net), net->bytes > sizeof(lamina_net), bytes > 0 && net->run != NULL);
  return 0;
}
"""
    program = built(text, tmp_path, "-I", str(tmp_path))
    assert subprocess.run([program, exe[1]], check=True, capture_output=True, text=True).stdout == "0 1 1\n"


def test_the_header_is_up_to_date_and_short() -> None:
    assert HEADER.read_text() == header(), "python -m tools.header writes it"
    assert len(header().splitlines()) <= 190


def test_records_are_laid_out_as_c_does() -> None:
    assert record_bytes(NET, ctypes.sizeof(ctypes.c_void_p)) == ctypes.sizeof(CNet)


def test_python_runs_it_as_the_program(exe: tuple[Any, Path]) -> None:
    program, path = exe
    inputs = drawn(program)
    expected = program.run(inputs)
    with ExportedNet(path, verify=True) as net:
        assert (net.inputs, net.outputs, net.threads) == (program.inputs, program.outputs, 2)
        for _ in range(2):
            for found, wanted in zip(net(*inputs.values()), expected.values(), strict=True):
                assert found.tobytes() == wanted.tobytes()
        out = {"y": np.zeros_like(expected["y"])}
        results = net.run(inputs, out)
        assert results["y"] is out["y"] and results["y"].tobytes() == expected["y"].tobytes()
        with pytest.raises(InputError, match=r"output 'y': float32\[1, \d+, \d+, \d+\] expected"):
            net.run(inputs, {"y": out["y"][0]})
        with pytest.raises(InputError, match="output 'z': the model has no such output"):
            net.run(inputs, {"z": out["y"]})
        twice = {"picked": inputs["image"][:, :2]}
        with pytest.raises(InputError, match="output 'picked': "):
            net.run(inputs, twice)
        with pytest.raises(InputError, match="missing; expected"):
            net.run({})
        inputs["places"][1] = 0
        with pytest.raises(InputError, match="net 'small': "):
            net.run(inputs)
    inputs["places"][1] = 1
    assert net.run(inputs)["y"].tobytes() == expected["y"].tobytes()  # anew after its threads have ended


COLLECTED = """
import gc, sys
import numpy as np
from lamina import ExportedNet

for _ in range(3):
    net = ExportedNet(sys.argv[1])
    net.run({p.name: np.ones(p.shape, p.dtype) for p in net.inputs})
    net.itself = net
    del net
    gc.collect()
print("fine")
"""


def test_its_threads_end_before_its_code_goes_where_a_cycle_is_collected(exe: tuple[Any, Path]) -> None:
    said = subprocess.run([sys.executable, "-c", COLLECTED, str(exe[1])], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, "fine\n"), said.stderr


def test_a_file_that_is_replaced_is_loaded_anew(tmp_path: Path) -> None:
    """The loader gives what it has loaded from the same path before; both stay what they were."""
    nets: list[ExportedNet] = []
    for number in (2.0, 3.0, 5.0):
        text = f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %c = relay.constant dense<{number}> : tensor<f32>
  %y = relay.multiply %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}}"""
        (tmp_path / "m.mlir").write_text(text)
        lamina.export(tmp_path / "m.mlir", tmp_path / "net.so", threads=1)
        nets.append(ExportedNet(tmp_path / "net.so"))
    x = np.ones(4, np.float32)
    assert [net(x)[0] for net in nets] == [2, 3, 5]
    with pytest.raises(InputError, match="shares memory with another tensor"):
        nets[0].run({"x": x}, {nets[0].outputs[0].name: x})
    maps = Path("/proc/self/maps")
    assert str(tmp_path) in maps.read_text()
    nets.clear()
    assert str(tmp_path) not in maps.read_text()


def test_nets_that_share_a_file_are_not_mistaken_for_another(exe: tuple[Any, Path], tmp_path: Path) -> None:
    other = lamina.compile(model(2), threads=1)
    other.export(tmp_path / "small.so")  # of the same name
    first, second = ExportedNet(exe[1]), ExportedNet(exe[1])
    del first  # what it was opened by is free for the next one
    third = ExportedNet(tmp_path / "small.so")
    for net, program in ((second, exe[0]), (third, other)):
        inputs = drawn(program)
        expected = program.run(inputs)
        assert {k: v.tobytes() for k, v in net.run(inputs).items()} == {k: v.tobytes() for k, v in expected.items()}


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["library", "executable"])
def test_calls_from_eight_threads_have_a_state_each(exe: tuple[Any, Path], kind: str, count: int) -> None:
    program, path = exe
    net = ExportedNet(path, threads=1) if kind == "library" else program
    inputs = [drawn(program, n) for n in range(8)]
    expected = [program.run(i)["y"].tobytes() for i in inputs]
    wrong: list[int] = []

    def work(n: int) -> None:
        for _ in range(count):
            if net.run(inputs[n])["y"].tobytes() != expected[n]:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_forked_process_starts_threads_of_its_own(exe: tuple[Any, Path]) -> None:
    program, path = exe
    inputs = drawn(program)
    with ExportedNet(path) as net:
        expected = net.run(inputs)["y"].tobytes()
        child = os.fork()
        if not child:
            os._exit(net.run(inputs)["y"].tobytes() != expected)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert net.run(inputs)["y"].tobytes() == expected


def test_state_goes_from_one_run_to_the_next(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<4xf32>, %sum: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {
    lamina.state = [{input = "sum", output = "next", initial = dense<2.0> : tensor<f32>}],
    res_attrs = [{lamina.name = "y"}, {lamina.name = "next"}]} {
  %next = relay.add %sum, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = relay.nn.relu %next : tensor<4xf32>
  return %y, %next : tensor<4xf32>, tensor<4xf32>
}
"""
    (tmp_path / "sum.mlir").write_text(text)
    exe = lamina.compile(tmp_path / "sum.mlir", threads=1)
    exe.export(tmp_path / "sum.so")
    ours, theirs = exe.session(), ExportedNet(tmp_path / "sum.so").session()
    for n in range(3):
        x = np.full(4, n - 1.5, np.float32)
        assert np.array_equal(ours(x), theirs(x)) and ours.state["sum"][0] == theirs.state["sum"][0] != 2


def test_what_a_library_needs(exe: tuple[Any, Path], tmp_path: Path) -> None:
    """With one thread nothing, with several the C library."""
    pytest.importorskip("elftools")
    from elftools.elf.elffile import ELFFile  # type: ignore[import-untyped]

    alone = tmp_path / "alone.so"
    lamina.compile(model(1), threads=1).export(alone)
    needed: list[list[str]] = []
    for path in (alone, exe[1]):
        elf: Any = ELFFile(io.BytesIO(path.read_bytes()))
        tags = elf.get_section_by_name(".dynamic").iter_tags()
        needed.append([t.needed for t in tags if t["d_tag"] == "DT_NEEDED"])
        names = [s.name for s in elf.get_section_by_name(".dynsym").iter_symbols() if s["st_shndx"] != "SHN_UNDEF"]
        assert names == [f"lamina_{path.stem}"]
    assert needed == [[], ["libc.so.6"]]


def _convolution() -> Any:
    """A net whose kernel has buffers in a parallel loop: a convolution in Winograd's tiles."""
    w = np.random.default_rng(0).standard_normal((64, 64, 3, 3)).astype(np.float32)
    info = helper.make_tensor_value_info
    ends = [info("x", TensorProto.FLOAT, [1, 64, 28, 28])], [info("y", TensorProto.FLOAT, None)]
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])]
    graph = helper.make_graph(nodes, "g", *ends, [numpy_helper.from_array(w, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_large_buffers_of_threads_lie_in_the_state(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = _convolution()
    x = np.random.default_rng(1).standard_normal((1, 64, 28, 28)).astype(np.float32)
    expected = lamina.compile(net, "x86-64-v2", threads=threads).run({"x": x})["y"]
    monkeypatch.setattr(buffers, "LARGEST_ON_STACK", 16)
    exe = lamina.compile(net, "x86-64-v2", threads=threads, cache=False)
    np.testing.assert_array_equal(exe.run({"x": x})["y"], expected)
    said = re.search(r"arena = (\d+) : i64, thread_memory = (\d+) : i64", exe.text("llvm"))
    assert said is not None
    assert exe.memory.arena == int(said[1]) + threads * int(said[2])
    exe.export(tmp_path / "large.so")
    assert b"\0malloc\0" not in (tmp_path / "large.so").read_bytes()
    library = ExportedNet(tmp_path / "large.so")
    for _ in range(3):
        np.testing.assert_array_equal(library.run({"x": x})["y"], expected)


def test_a_saved_program_has_memory_for_the_threads_it_is_loaded_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = _convolution()
    x = np.random.default_rng(1).standard_normal((1, 64, 28, 28)).astype(np.float32)
    monkeypatch.setattr(buffers, "LARGEST_ON_STACK", 16)
    exe = lamina.compile(net, "x86-64-v2", threads=1, cache=False)
    exe.save(tmp_path / "large.lamina")
    loaded = lamina.Executable.load(tmp_path / "large.lamina", threads=3)
    assert loaded.memory.arena > exe.memory.arena
    for _ in range(3):
        np.testing.assert_array_equal(loaded.run({"x": x})["y"], exe.run({"x": x})["y"])


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 20))])
def test_a_build_gives_the_same_bytes_in_another_process(seed: int, tmp_path: Path) -> None:
    """And needs no tool: the path of commands is empty there."""
    (tmp_path / "m.onnx").write_bytes(model(seed).SerializeToString())
    lamina.compile(tmp_path / "m.onnx", threads=2, cache=False).export(tmp_path / "net.so")
    first = (tmp_path / "net.so").read_bytes()
    words = ["-m", "lamina.cli", "compile", "m.onnx", "-o", "net.so", "--threads", "2", "--no-cache"]
    environment = {**os.environ, "PATH": "", "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(seed + 1)}
    subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "net.so").read_bytes() == first


@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.long)])
def test_damaged_files_are_refused_before_any_code_runs(exe: tuple[Any, Path], tmp_path: Path, count: int) -> None:
    whole = exe[1].read_bytes()
    net = read_net(exe[1])
    random = np.random.default_rng(1)
    path = tmp_path / "damaged.so"
    for n in range(count):
        data = bytearray(whole)
        if n % 10 == 0:
            data = data[: int(random.integers(0, len(data)))]
        else:
            data[int(random.integers(0, net.code_bytes))] ^= int(random.integers(1, 256))
        path.write_bytes(data)
        with pytest.raises(InputError, match="is damaged|is no net that Lamina has exported|cannot read"):
            ExportedNet(path)
    data = bytearray(whole)
    data[-net.weight_bytes] ^= 1
    path.write_bytes(data)
    assert read_net(path).name == "small"  # weights are looked at when asked
    with pytest.raises(InputError, match="is damaged"):
        read_net(path, verify=True)


def test_what_cannot_be_exported_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exe = lamina.compile(model(0), threads=1)
    with pytest.raises(UsageError, match="the name of a net is one of C, not 'a-b'"):
        exe.export(tmp_path / "x.so", "a-b")
    with pytest.raises(InputError, match="cannot write: this is no file"):
        exe.export(tmp_path)
    with pytest.raises(InputError, match="cannot write: No such file or directory"):
        exe.export(tmp_path / "no" / "x.so")
    assert not list(tmp_path.iterdir())
    loop = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}"
    with pytest.raises(LaminaError):
        lamina.compile(loop).export(tmp_path / "x.so")
    exe.export(tmp_path / "x.so")
    with pytest.raises(UnsupportedError, match="has no kernels in a fixed order; give all"):
        (tmp_path / "loop.mlir").write_text(loop)
        lamina.export(tmp_path / "loop.mlir", tmp_path / "y.so")
    lamina.export(model(0), tmp_path / "other.so", "aarch64", threads=1)
    with pytest.raises(InputError, match="other.so: code for aarch64 cannot run here: this machine is x86_64"):
        ExportedNet(tmp_path / "other.so")
    for host, says in (("x86-64-v2", "code for .* cannot run here"), ("native", None)):
        monkeypatch.setenv("LAMINA_HOST", host)
        if says is None or exe.target.cpu.data == "x86-64-v2":
            ExportedNet(tmp_path / "x.so")
            continue
        with pytest.raises(InputError, match=f"x.so: {says}"):
            ExportedNet(tmp_path / "x.so")
    with pytest.raises(UsageError, match="the net in it is 'x', not 'y'"):
        ExportedNet(tmp_path / "x.so", name="y")
    with pytest.raises(UsageError, match="threads is a positive integer"):
        ExportedNet(tmp_path / "x.so", threads=0)


def test_programs_of_external_backends_are_not_exported(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<5x8xf32>, %w: tensor<6x8xf32>) -> tensor<5x6xf32> {
  %d = relay.nn.dense %x, %w : (tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<5x6xf32>
  return %d : tensor<5x6xf32>
}
"""
    path = tmp_path / "m.mlir"
    path.write_text(text)
    try:
        exe = lamina.compile(path, "openblas, cpu")
    except LaminaError as error:
        pytest.skip(str(error))
    with pytest.raises(UnsupportedError, match="it calls openblas, which is Python"):
        exe.export(tmp_path / "x.so")


def test_names_of_nets() -> None:
    assert [net_name(n) for n in ("net.so", "a/my-net.v2.so", "é.so")] == ["net", "my_net", "_"]
