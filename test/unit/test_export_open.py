"""Exported nets of open extents: one library for all sizes gives what the program gives, on any machine it is for."""

from __future__ import annotations

import ctypes
import io
import re
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu.machines import processor
from lamina.cli.command import run as command
from lamina.dialects.index.symbol_range import MOST
from lamina.errors import InputError, LaminaError
from lamina.runtime.exported import ExportedNet, read_net
from lamina.runtime.linkable import read_linkable
from tools.header import PATH as HEADER

from .emulated_machines import EMULATED, RUN_NET, run_net

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not processor().triple.startswith("x86_64"), reason="libraries of x86-64 are loaded"),
]

CC, NODE = shutil.which("cc"), shutil.which("node")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler `cc`")
WASM_RUNNER = RUN_NET.parents[1] / "wasm" / "run_net.mjs"
Array = np.ndarray[Any, np.dtype[Any]]
SIZES = ((1, 1), (2, 7), (3, 64), (1, 129), (5, 33), (1, 2))


def attention(width: int = 48, inner: int = 80, seed: int = 0) -> Any:
    """A block of products, a sum of rows and scores of all pairs of rows, for any number of both."""
    random = np.random.default_rng(seed)

    def weight(name: str, *shape: int) -> Any:
        return numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32), name)

    node, info = helper.make_node, helper.make_tensor_value_info
    nodes = [
        node("MatMul", ["x", "w"], ["h"]),
        node("Relu", ["h"], ["r"]),
        node("MatMul", ["r", "v"], ["o"]),
        node("Add", ["o", "x"], ["s"]),
        node("Transpose", ["s"], ["t"], perm=[0, 2, 1]),
        node("MatMul", ["s", "t"], ["scores"]),
        node("Softmax", ["scores"], ["p"], axis=-1),
        node("MatMul", ["p", "s"], ["y"]),
        node("Slice", ["s", "first", "last", "axis", "step"], ["half"]),
    ]
    integers = {"first": 1, "last": 1 << 40, "axis": 1, "step": 2}
    weights = [weight("w", width, inner), weight("v", inner, width)]
    weights += [numpy_helper.from_array(np.asarray([n], np.int64), name) for name, n in integers.items()]
    outputs = [info(name, TensorProto.FLOAT, None) for name in ("y", "p", "half")]
    inputs = [info("x", TensorProto.FLOAT, ["batch", "rows", width])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convolutions() -> Any:
    """Extents that are quotients of others: two strides and a pool."""
    random = np.random.default_rng(0)
    w, v = ((random.standard_normal(s) / 5).astype(np.float32) for s in ((16, 3, 3, 3), (24, 16, 3, 3)))
    node, info = helper.make_node, helper.make_tensor_value_info
    nodes = [
        node("Conv", ["image", "w"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"]),
        node("MaxPool", ["r"], ["m"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Conv", ["m", "v"], ["y"], pads=[1, 1, 1, 1]),
    ]
    inputs = [info("image", TensorProto.FLOAT, ["n", 3, "height", "width"])]
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(v, "v")]
    graph = helper.make_graph(nodes, "g", inputs, [info("y", TensorProto.FLOAT, None)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def images() -> list[Array]:
    random = np.random.default_rng(1)
    sizes = ((1, 32, 32), (2, 9, 47), (1, 64, 17))
    return [random.standard_normal((n, 3, *size)).astype(np.float32) for n, *size in sizes]


def drawn(batch: int, rows: int, width: int = 48) -> dict[str, Array]:
    return {"x": np.random.default_rng(batch + rows).standard_normal((batch, rows, width)).astype(np.float32)}


def equal(found: Sequence[Array], expected: Sequence[Array]) -> bool:
    return all(a.tobytes() == b.tobytes() and a.shape == b.shape for a, b in zip(found, expected, strict=True))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """A program for two threads, and its library."""
    path = tmp_path_factory.mktemp("net") / "open.so"
    exe = lamina.compile(attention(), threads=2)
    exe.export(path)
    return exe, path


def built(source: str, folder: Path) -> Path:
    """A program of a C text."""
    assert CC is not None
    (folder / "main.c").write_text(source)
    program = folder / "program"
    words = [CC, "-Wall", "-Wextra", "-Werror", "-std=c11", "-D_GNU_SOURCE", "-I", str(HEADER.parent)]
    subprocess.run([*words, str(folder / "main.c"), "-o", str(program), "-ldl"], check=True)
    return program


def test_python_runs_it_at_any_size_in_memory_that_grows(exported: tuple[Any, Path]) -> None:
    exe, path = exported
    with ExportedNet(path, verify=True) as net:
        assert (net.inputs, net.outputs) == (exe.inputs, exe.outputs)
        for batch, rows in (*SIZES, *SIZES):
            inputs = drawn(batch, rows)
            assert equal([*net.run(inputs).values()], [*exe.run(inputs).values()])
        out = {"p": np.zeros((1, 2, 2), np.float32)}
        assert net.run(drawn(1, 2), out)["p"] is out["p"]
        with pytest.raises(InputError, match=r"output 'p': float32\[1, 3, 3\] expected|output 'p'"):
            net.run(drawn(1, 3), out)
        with pytest.raises(InputError, match="input 'x': rank 2 given, expected float32.batch, rows, 48"):
            net.run({"x": drawn(1, 3)["x"][0]})


@needs_cc
@pytest.mark.parametrize("threads", [1, 2])
def test_a_c_program_runs_it_at_any_size(exported: tuple[Any, Path], threads: int, tmp_path: Path) -> None:
    program = built(RUN_NET.read_text(), tmp_path)
    for batch, rows in SIZES:
        inputs = drawn(batch, rows)
        expected = [*exported[0].run(inputs).values()]
        found = run_net([program], exported[1], "open", threads, [*inputs.values()], expected, opens=True)
        assert equal(found, expected)


@pytest.mark.parametrize("machine", EMULATED)
def test_a_library_for_another_machine_runs_in_an_emulator(
    exported: tuple[Any, Path], machine: str, tmp_path: Path
) -> None:
    """Also one whose pointers have 32 bits."""
    emulated, program = EMULATED[machine], tmp_path / "program"
    emulated.needs_tools()
    emulated.build(RUN_NET, program)
    lamina.export(attention(), tmp_path / "net.so", machine, threads=2)
    for batch, rows in SIZES[:4]:
        inputs = drawn(batch, rows)
        expected = [*exported[0].run(inputs).values()]
        started = emulated.started(program)
        for a, b in zip(
            run_net(started, tmp_path / "net.so", "net", 2, [*inputs.values()], expected, opens=True),
            expected,
            strict=True,
        ):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * max(1, np.abs(b).max(initial=0)))


@pytest.mark.skipif(NODE is None, reason="there is no `node`")
def test_a_module_of_webassembly_runs_in_node(tmp_path: Path) -> None:
    exe = lamina.compile(convolutions(), threads=1)
    lamina.export(convolutions(), tmp_path / "net.wasm")

    def run(shape: str) -> subprocess.CompletedProcess[str]:
        words = [str(NODE), WASM_RUNNER, tmp_path / "net.wasm", "2", shape + str(tmp_path / "x"), tmp_path / "y"]
        return subprocess.run(words, check=False, capture_output=True, text=True)

    for image in images():
        image.tofile(tmp_path / "x")
        end = run("x".join(map(str, image.shape)) + "=")
        assert not end.returncode, end.stderr
        expected = exe(image)
        found = np.fromfile(tmp_path / "y", np.float32).reshape(expected.shape)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert "the shape of a tensor is another than its port's" in run("1x4x8x8=").stderr
    assert "a shape of 4 extents is expected" in run("8x8=").stderr


def test_buffers_of_open_sizes_are_no_part_of_a_module_of_webassembly(tmp_path: Path) -> None:
    with pytest.raises(LaminaError, match=r"calls malloc, which no object has; .* give the shapes"):
        lamina.export(attention(), tmp_path / "net.wasm")
    assert not list(tmp_path.iterdir())


MISTAKES = """#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "lamina.h"
int main(int count, char **words) {
  (void)count;
  const lamina_net *net = (const lamina_net *)dlsym(dlopen(words[1], RTLD_NOW), "lamina_open");
  int64_t shape[3] = {2, 7, 48}, told[3][3];
  const int64_t *shapes[1] = {shape};
  int64_t *results[3] = {told[0], told[1], told[2]};
  uint64_t least, bytes, more;
  printf("%d %d ", lamina_opens(net), net->sizes(NULL, 2, NULL, &least));
  printf("%d ", net->sizes(shapes, 2, results, &bytes));
  printf("%d%d%d ", (int)told[1][0], (int)told[1][1], (int)told[2][1]);
  printf("%d ", net->inputs[0].shape[0] == LAMINA_OPEN && net->inputs[0].shape[2] == 48 && !net->inputs[0].bytes);
  void *state = aligned_alloc(64, (bytes + 63) / 64 * 64), *room = calloc(64, 1 << 20);
  const void *inputs[1] = {calloc(2 * 7 * 48, 4)};
  void *outputs[3] = {room, room, room};
  for (int n = 0; n < 3; n++) outputs[n] = calloc(1 << 16, 1);
  printf("%d ", net->run_shapes(room, bytes, shapes, inputs, outputs));
  printf("%d ", net->start(state, NULL, 2, 0));
  printf("%d %d ", net->run(state, inputs, outputs), net->run_shapes(state, bytes, NULL, inputs, outputs));
  printf("%d ", net->run_shapes(state, bytes, shapes, inputs, outputs));
  shape[1] = 8;
  printf("%d ", net->sizes(shapes, 2, NULL, &more) || more <= bytes);
  printf("%d ", net->run_shapes(state, bytes, shapes, inputs, outputs));
  const int64_t odd[5][3] = {{2, 7, 47}, {-1, 7, 48}, {2, INT64_MIN, 48}, {1 << 30, 1 << 30, 48}, {2, INT64_MAX, 48}};
  for (int n = 0; n < 5; n++) {
    for (int d = 0; d < 3; d++) shape[d] = odd[n][d];
    printf("%d%d ", net->sizes(shapes, 2, results, NULL), net->run_shapes(state, bytes, shapes, inputs, outputs));
  }
  shape[0] = 1, shape[1] = 3, shape[2] = 48;
  printf("%d\\n", net->run_shapes(state, bytes, shapes, inputs, outputs));
  net->stop(state);
  return 0;
}
"""


@needs_cc
def test_what_a_c_program_is_told_of_mistakes(exported: tuple[Any, Path], tmp_path: Path) -> None:
    said = subprocess.run([built(MISTAKES, tmp_path), exported[1]], check=True, capture_output=True, text=True).stdout
    assert said == "1 -11 0 273 1 -1 0 -11 -11 0 0 -12 -5-5 -5-5 -5-5 -5-5 -5-5 0\n"


def test_sizes_of_a_range_and_a_divisor_are_kept_to(tmp_path: Path) -> None:
    exe = lamina.compile(attention(), threads=1, shapes={"batch": "1..4", "rows": "8..64:8"})
    exe.export(tmp_path / "net.so")
    with ExportedNet(tmp_path / "net.so") as net:
        for shape in ((1, 8), (4, 64)):
            assert equal([*net.run(drawn(*shape)).values()], [*exe.run(drawn(*shape)).values()])
        size = ctypes.c_uint64()
        for batch, rows, wanted in ((4, 64, 0), (5, 8, -5), (0, 8, -5), (1, 72, -5), (1, 12, -5)):
            shape_ = (ctypes.c_int64 * 3)(batch, rows, 48)
            shapes = (ctypes.c_void_p * 1)(ctypes.addressof(shape_))
            assert net.sizes(ctypes.addressof(shapes), 1, None, ctypes.addressof(size)) == wanted, (batch, rows)


def test_calls_from_eight_threads_have_a_state_each(exported: tuple[Any, Path]) -> None:
    exe, path = exported
    expected = {sizes: [*exe.run(drawn(*sizes)).values()] for sizes in SIZES}
    wrong: list[tuple[int, int]] = []
    with ExportedNet(path, threads=1) as net:

        def work(n: int) -> None:
            for k in range(12):
                sizes = SIZES[(n + k) % len(SIZES)]
                if not equal([*net.run(drawn(*sizes)).values()], expected[sizes]):
                    wrong.append(sizes)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
    assert not wrong


def test_convolutions_of_images_of_any_size(tmp_path: Path) -> None:
    exe = lamina.compile(convolutions(), threads=2)
    exe.export(tmp_path / "net.so")
    with ExportedNet(tmp_path / "net.so") as net:
        for image in images():
            assert equal([net(image)], [exe(image)])


def test_weights_that_are_packed_when_it_is_loaded(tmp_path: Path) -> None:
    lamina.export(attention(), tmp_path / "net.so", threads=1, small=True)
    exe = lamina.compile(attention(), threads=1)
    with ExportedNet(tmp_path / "net.so") as net:
        for sizes in SIZES[:3]:
            assert equal([*net.run(drawn(*sizes)).values()], [*exe.run(drawn(*sizes)).values()])


def said_by(*words: Any) -> str:
    """What a command of `lamina` prints."""
    out, err = io.StringIO(), io.StringIO()
    assert command([str(w) for w in words], out, err) == 0, err.getvalue()
    return out.getvalue()


def test_it_describes_its_extents(exported: tuple[Any, Path], tmp_path: Path) -> None:
    net = read_net(exported[1])
    assert [p.describe() for p in net.outputs][1] == "float32[batch, rows, rows]"
    said = said_by("inspect", exported[1])
    assert "inputs    x: float32[batch, rows, 48]\n" in said
    assert re.search(r"^memory +[\d,]+( \+ \d+ \* batch( \* rows)*)+ bytes to work in$", said, re.M), said
    lamina.export(attention(), tmp_path / "net.a", threads=1)
    assert read_linkable(tmp_path / "net.a").description["inputs"][-1][0] == "x"
    assert "inputs    x: float32[batch, rows, 48]\n" in said_by("inspect", tmp_path / "net.a")


def test_the_command_line_runs_it(exported: tuple[Any, Path], tmp_path: Path) -> None:
    inputs = drawn(3, 5)
    np.savez(tmp_path / "x.npz", x=inputs["x"])
    said_by("run", exported[1], "--input", tmp_path / "x.npz", "--output", tmp_path / "y.npz")
    with np.load(tmp_path / "y.npz") as found:
        assert equal([found["p"]], [exported[0].run(inputs)["p"]])


def test_a_symbol_is_less_than_what_a_size_may_be() -> None:
    """`lamina.shapes` checks sizes first, so that forms of them have no overflow."""
    assert MOST <= 1 << 30
