"""Libraries in programs of another C library, musl's, and the stack that threads of a library ask for in any."""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina
from lamina.backends.cpu.machines import processor
from lamina.compat import tvm
from lamina.compat.tvm import te
from lamina.runtime.exported import read_net
from tools.header import PATH as HEADER

from .emulated_machines import RUN_NET, run_net
from .test_export import TWO_NETS, drawn
from .test_export import model as small_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not processor().triple.startswith("x86_64"), reason="libraries of x86-64 are loaded"),
]

CC, MUSL = "cc", "musl-gcc"
needs_musl = pytest.mark.skipif(shutil.which(MUSL) is None, reason=f"there is no {MUSL} (Debian package musl-tools)")


def built(compiler: str, source: Path, program: Path, *options: str) -> Path:
    """A C program of a file, linked with the C library of a compiler."""
    words = [compiler, "-Wall", "-Werror", "-std=c11", "-D_GNU_SOURCE", "-I", str(HEADER.parent), str(source)]
    subprocess.run([*words, "-o", str(program), *options], check=True)
    return program


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C program of the examples, for musl."""
    program = built(MUSL, RUN_NET, tmp_path_factory.mktemp("musl") / "run_net")
    assert b"/lib/ld-musl-" in program.read_bytes()
    return program


@needs_musl
@pytest.mark.parametrize("threads", [1, 2])
def test_a_library_computes_the_same_to_the_bit(caller: Path, threads: int, tmp_path: Path) -> None:
    exe = lamina.compile(small_model(0), threads=threads)
    exe.export(tmp_path / "net.so")
    inputs = drawn(exe)
    found = run_net([caller], tmp_path / "net.so", "net", threads, list(inputs.values()), exe.outputs)
    assert [a.tobytes() for a in found] == [a.tobytes() for a in exe.run(inputs).values()]


@needs_musl
def test_functions_of_libm_are_musls(caller: Path, tmp_path: Path) -> None:
    """The names of glibc's libraries, libc.so.6 and libm.so.6, are musl's own to its loader."""
    info = helper.make_tensor_value_info
    ports = info("x", TensorProto.FLOAT, [64]), info("y", TensorProto.FLOAT, [64])
    graph = helper.make_graph([helper.make_node("Cos", ["x"], ["y"])], "g", [ports[0]], [ports[1]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    lamina.export(model, tmp_path / "net.so", threads=1)
    assert b"libm.so.6" in (tmp_path / "net.so").read_bytes()
    x = np.linspace(-9, 9, 64, dtype=np.float32)
    (y,) = run_net([caller], tmp_path / "net.so", "net", 1, [x], read_net(tmp_path / "net.so").outputs)
    np.testing.assert_allclose(y, np.cos(x), rtol=0, atol=1e-6)


@needs_musl
def test_archives_are_linked_into_a_static_program(tmp_path: Path) -> None:
    lamina.export(small_model(0), tmp_path / "first.a", threads=2)
    lamina.export(small_model(0), tmp_path / "second.o", threads=1)
    (tmp_path / "main.c").write_text(TWO_NETS)
    files = [str(tmp_path / "first.a"), str(tmp_path / "second.o"), "-lpthread", "-lm"]
    program = built(MUSL, tmp_path / "main.c", tmp_path / "program", "-static", *files)
    said = subprocess.run([program], check=True, capture_output=True).stdout
    exe = lamina.compile(small_model(0), threads=1)
    image = (np.arange(np.prod(exe.inputs[0].shape)) % 13 - 6).astype(np.float32).reshape(exe.inputs[0].shape)
    assert said == 2 * exe.run({"image": image, "places": np.asarray([2, 1])})["y"].tobytes()


ROWS, WIDTH = 64, 150_000


@pytest.fixture(scope="module")
def large_buffers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    """The library of a kernel each of whose threads has a buffer of 600 KB on its stack, its input and its result."""
    tensors: Any = te
    given = tensors.placeholder((ROWS, WIDTH), name="A")
    twice = tensors.compute((ROWS, WIDTH), lambda i, j: given[i, j] * 2, name="B")
    back = tensors.compute((ROWS, WIDTH), lambda i, j: twice[i, WIDTH - 1 - j] + 1, name="C")
    s: Any = te.create_schedule(back.op)
    s[back].parallel(s[back].op.axis[0])
    s[twice].compute_at(s[back], s[back].op.axis[0])
    path = tmp_path_factory.mktemp("stack") / "k.so"
    kernel: Any = tvm.build(s, [given, back], "llvm -num-cores=2", name="k")
    kernel.export_library(str(path))
    a = np.random.default_rng(0).standard_normal((ROWS, WIDTH)).astype(np.float32)
    return path, a, a[:, ::-1] * 2 + 1


@needs_musl
def test_threads_have_room_for_their_buffers(caller: Path, large_buffers: tuple[Path, Any, Any]) -> None:
    """musl gives a thread 128 KB of stack if it is not asked for more."""
    path, a, expected = large_buffers
    (found,) = run_net([caller], path, "k", 2, [a], read_net(path).outputs, repeats=20)
    np.testing.assert_array_equal(found, expected)


ASKED = """
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument) {
  size_t bytes = 0;
  if (attributes) pthread_attr_getstacksize(attributes, &bytes);
  fprintf(stderr, "stack %zu\\n", bytes);
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attributes, work, argument);
}
"""


@pytest.mark.parametrize("compiler", [CC, MUSL])
def test_threads_ask_for_their_stack(compiler: str, large_buffers: tuple[Path, Any, Any], tmp_path: Path) -> None:
    """Also in a process whose limit (`ulimit -s`) would give them less."""
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    (tmp_path / "main.c").write_text(f'{ASKED}\n#include "{RUN_NET}"\n')
    program = built(compiler, tmp_path / "main.c", tmp_path / "program", "-rdynamic", "-ldl")
    large_buffers[1].tofile(tmp_path / "a.raw")
    words = [program, large_buffers[0], "k", "3", "1", tmp_path / "a.raw", tmp_path / "c.raw"]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stderr
    assert said == 2 * f"stack {8 << 20}\n"
