"""Nets without a system on Cortex-M4, M7 and M55 give what the program gives here; they are small, and need little."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu.jit import Machine, compile_object
from lamina.backends.cpu.machines import named
from lamina.backends.link.elf_object import read_object
from lamina.cli.command import run
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.runtime.linkable import read_linkable
from tools.header import PATH as HEADER

from .cortex_m import BESIDE_ARENA, BOARDS, EXAMPLE, GCC, built, check_memory, emulated, keyword_net, skip_without_tools

pytestmark = pytest.mark.slow


Array = np.ndarray[Any, np.dtype[Any]]


def by_onnxruntime(model: Any, x: Array) -> list[Array]:
    """The peer's outputs for an input."""
    session: Any = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})


@pytest.mark.parametrize("board", BOARDS)
def test_an_integer_keyword_model_is_equal_to_the_bit(board: str, tmp_path: Path) -> None:
    skip_without_tools()
    model = keyword_net()
    lamina.export(model, tmp_path / "keywords.a", board)
    features = np.random.default_rng(1).integers(-128, 128, (3, 1, 1, 49, 10)).astype(np.int8)
    facts, found = emulated(board, built(board, tmp_path, ["keywords.a"]), features.tobytes())
    expected = np.concatenate([by_onnxruntime(model, x)[0] for x in features])
    assert len(set(expected.argmax(1))) + len(np.unique(expected)) > 12  # it is not one answer to all
    np.testing.assert_array_equal(np.frombuffer(found, np.int8).reshape(expected.shape), expected)
    exe = lamina.compile(model, threads=1)
    assert found == b"".join(np.ascontiguousarray(exe(x)).tobytes() for x in features)
    assert facts["frames"] == 3 and facts["class"] == expected[-1].argmax()
    check_memory(board, tmp_path / "keywords.a", facts)


def float_model() -> Any:
    """A convolution, a sigmoid, means and a softmax; values from one run to the next; floats that are rounded."""
    random = np.random.default_rng(3)
    w = numpy_helper.from_array(random.standard_normal((6, 3, 3, 3)).astype(np.float32) / 3, "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Sigmoid", ["c"], ["s"]),
        helper.make_node("GlobalAveragePool", ["s"], ["p"]),
        helper.make_node("Mul", ["p", "ten"], ["q"]),
        helper.make_node("Softmax", ["q"], ["y"], axis=1),
        *(helper.make_node(op, ["c"], [op]) for op in ("Floor", "Ceil", "Round")),
    ]
    info, kind = helper.make_tensor_value_info, TensorProto.FLOAT
    outputs = [info(name, kind, None) for name in ("y", "Floor", "Ceil", "Round")]
    constants = [w, numpy_helper.from_array(np.asarray(10, np.float32), "ten")]
    graph = helper.make_graph(nodes, "g", [info("x", kind, [1, 3, 9, 7])], outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("board", BOARDS)
def test_a_float_model_is_nearly_equal(board: str, tmp_path: Path) -> None:
    skip_without_tools()
    model = float_model()
    lamina.export(model, tmp_path / "floats.a", board)
    x = np.random.default_rng(2).uniform(-2, 2, (1, 3, 9, 7)).astype(np.float32)
    program = built(board, tmp_path, ["floats.a"], "-DNET=lamina_floats")
    _, found = emulated(board, program, x.tobytes())
    expected = np.concatenate([y.reshape(-1) for y in by_onnxruntime(model, x)])
    np.testing.assert_allclose(np.frombuffer(found, np.float32), expected, rtol=0, atol=1e-5)
    assert read_linkable(tmp_path / "floats.a").needed == ()


def mixed_model() -> Any:
    """Attention, windows, integers of 64 bits: kernels of many kinds, some of which work in buffers of their own."""
    random, info = np.random.default_rng(4), helper.make_tensor_value_info
    constants = {
        "w": random.standard_normal((8, 3, 5, 5)), "t": random.standard_normal((8, 4, 2, 2)),
        "d": random.standard_normal((3, 3, 3, 3)),
        "zero": np.asarray(5), "end": np.asarray(5 + 9 * 10**11), "step": np.asarray(10**11), "axis": np.asarray(0),
    }  # fmt: skip
    nodes = [
        helper.make_node("MatMul", ["q", "k"], ["s"]),
        helper.make_node("Softmax", ["s"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "v"], ["attended"]),
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[2, 2, 2, 2], strides=[2, 2]),
        helper.make_node("MaxPool", ["c"], ["m"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("ConvTranspose", ["m", "t"], ["u"], strides=[2, 2]),
        helper.make_node("Conv", ["x", "d"], ["same"], pads=[1, 1, 1, 1]),
        helper.make_node("Range", ["zero", "end", "step"], ["r"]),
        helper.make_node("Add", ["r", "n"], ["far"]),
        helper.make_node("Div", ["far", "by"], ["quotients"]),
        helper.make_node("CumSum", ["quotients", "axis"], ["sums"]),
    ]
    floats = {"q": [1, 2, 12, 8], "k": [1, 2, 8, 12], "v": [1, 2, 12, 8], "x": [1, 3, 17, 19]}
    inputs = [info(name, TensorProto.FLOAT, shape) for name, shape in floats.items()]
    inputs += [info(name, TensorProto.INT64, [9]) for name in ("n", "by")]
    outputs = [info(name, TensorProto.FLOAT, None) for name in ("attended", "u", "same")]
    outputs += [info(name, TensorProto.INT64, None) for name in ("far", "sums")]
    weights = [numpy_helper.from_array(a.astype(np.float32) if a.ndim else a, n) for n, a in constants.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("board", BOARDS)
def test_kernels_of_many_kinds_run_on_a_small_stack(board: str, tmp_path: Path) -> None:
    skip_without_tools()
    model, random = mixed_model(), np.random.default_rng(5)
    exe = lamina.compile(model, threads=1)
    inputs = {p.name: np.asarray(random.uniform(-1, 1, p.shape), p.dtype) for p in exe.inputs}
    inputs |= {"n": random.integers(-(10**12), 10**12, 9), "by": random.integers(1, 10**7, 9)}
    lamina.export(model, tmp_path / "mixed.a", board)
    frame = b"".join(inputs[p.name].tobytes() for p in exe.inputs)
    facts, found = emulated(board, built(board, tmp_path, ["mixed.a"], "-DNET=lamina_mixed"), frame)
    for expected in exe.run(inputs).values():
        array, found = np.frombuffer(found[: expected.nbytes], expected.dtype), found[expected.nbytes :]
        if expected.dtype == np.int64:
            np.testing.assert_array_equal(array, expected.reshape(-1))
        else:
            most = float(np.abs(expected).max())
            np.testing.assert_allclose(array, expected.reshape(-1), rtol=0, atol=1e-5 * most)
    assert not found and facts["stack"] <= BESIDE_ARENA


ROUNDED = """
#include "board.h"
float floorf(float), ceilf(float), truncf(float), roundf(float), rintf(float), nearbyintf(float), roundevenf(float);
double floor(double), ceil(double), trunc(double), round(double), rint(double), nearbyint(double), roundeven(double);
int main(void) {
  const intptr_t in = open_file("in.raw", 0), out = open_file("out.raw", 1);
  float x[2];
  double y;
  while (read_file(in, x, 4) && read_file(in, &y, 8)) {
    const float f[7] = {floorf(*x), ceilf(*x), truncf(*x), roundf(*x), rintf(*x), nearbyintf(*x), roundevenf(*x)};
    const double d[7] = {floor(y), ceil(y), trunc(y), round(y), rint(y), nearbyint(y), roundeven(y)};
    write_file(out, f, sizeof f);
    write_file(out, d, sizeof d);
  }
  close_file(out);
  return 0;
}
"""


def away(x: Array) -> Array:
    """To the nearest whole number, from the middle away from zero."""
    below = np.trunc(x)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(np.abs(x - below) >= 0.5, below + np.copysign(1, x), below), x.dtype)


def test_floats_are_rounded_as_the_c_library_does(tmp_path: Path) -> None:
    """The run-time's own functions, which a processor without such instructions calls."""
    skip_without_tools()
    from lamina.backends.cpu.runtime.modules import runtime_object

    for part in ("rounding_f32", "rounding_f64"):
        (tmp_path / f"{part}.o").write_bytes(runtime_object(part, None, "none_thumbv7em"))
    (tmp_path / "rounded.c").write_text(ROUNDED)
    random, edges = np.random.default_rng(0), [0.0, 0.5, 1.5, 2.5, 0.49999997, 8388607.5, 4503599627370495.5, 1e30]
    drawn = random.standard_normal(200) * 10.0 ** random.integers(-3, 18, 200)
    y = np.concatenate([edges, np.negative(edges), drawn, [np.inf, -np.inf, np.nan]])
    x = y.astype(np.float32)
    files, objects = tmp_path / "rounded.c", ["rounding_f32.o", "rounding_f64.o"]
    program = built("cortex-m4", tmp_path, objects, "-fno-builtin", main=files)
    frames = b"".join(a.tobytes() + b.tobytes() for a, b in zip(x, y, strict=True))
    rows = np.frombuffer(emulated("cortex-m4", program, frames)[1], np.dtype("7<f4, 7<f8"))
    for found, given in ((rows["f0"], x), (rows["f1"], y)):
        even = np.rint(given)
        expected = [np.floor(given), np.ceil(given), np.trunc(given), away(given), even, even, even]
        for column, wanted in zip(found.T, expected, strict=True):
            np.testing.assert_array_equal(column, wanted)
            np.testing.assert_array_equal(np.signbit(column[:-1]), np.signbit(wanted[:-1]))


TWO_NETS = """
#include "board.h"
#include "lamina.h"
extern const lamina_net lamina_first, lamina_second;
static char memory[2][1 << 16] __attribute__((aligned(64)));
static float x[2][64], y[2][64];
int main(void) {
  const lamina_net *nets[2] = {&lamina_first, &lamina_second};
  const void *in[1] = {x[0]};
  const intptr_t source = open_file("in.raw", 0), target = open_file("out.raw", 1);
  if (!read_file(source, x[0], sizeof x[0])) return 3;
  for (int n = 0; n < 2; n++) {
    void *out[1] = {y[n]};
    if (nets[n]->run(memory[n], in, out) != LAMINA_NO_STATE) return 4;
    if (nets[n]->start(memory[n] + 1, 0, 1, 0) != LAMINA_UNALIGNED_STATE) return 5;
    if (nets[n]->start(memory[n], 0, 1, 0) || nets[n]->run(memory[n], in, out)) return 6;
    nets[n]->stop(memory[n]);
    write_file(target, y[n], sizeof y[n]);
  }
  close_file(target);
  return 0;
}
"""


def scaled(factor: float) -> str:
    return f"""
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {{
  %f = relay.constant dense<{factor:.1f}> : tensor<f32>
  %y = relay.multiply %x, %f : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}}
"""


def test_two_nets_are_in_one_program_and_sections_bear_their_names(tmp_path: Path) -> None:
    skip_without_tools()
    for name, factor in (("first", 2.0), ("second", 3.0)):
        (tmp_path / f"{name}.mlir").write_text(scaled(factor))
        lamina.export(tmp_path / f"{name}.mlir", tmp_path / f"{name}.o", "cortex-m4")
    (tmp_path / "two.c").write_text(TWO_NETS)
    x = np.arange(64, dtype=np.float32)
    program = built("cortex-m4", tmp_path, ["first.o", "second.o"], main=tmp_path / "two.c")
    _, found = emulated("cortex-m4", program, x.tobytes())
    np.testing.assert_array_equal(np.frombuffer(found, np.float32), np.concatenate([2 * x, 3 * x]))
    sections = [s for s in read_object((tmp_path / "first.o").read_bytes(), "first.o").sections if s.flags]
    assert {".text.lamina.first", ".rodata.lamina.first.tables"} <= {s.name for s in sections}
    assert not [s.name for s in sections if s.flags & 1]  # nothing that a program writes


def test_the_example_is_clean_for_each_processor(tmp_path: Path) -> None:
    """Its C is without warnings for the host as well, where a mistake of 64 bits would show."""
    skip_without_tools()
    words = [GCC, "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffreestanding", "-mcpu=cortex-m4"]
    for name in ("main.c", "board.c"):
        subprocess.run([*words, "-I", HEADER.parent, "-c", EXAMPLE / name, "-o", tmp_path / "x.o"], check=True)


def printed(*words: object) -> str:
    """The output of a command, and its errors."""
    out = io.StringIO()
    run([str(w) for w in words], out, out)
    return out.getvalue()


def test_a_net_named_as_a_part_of_the_run_time_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(scaled(2.0))
    with pytest.raises(UsageError, match="a net is not named 'run', as a part of the run-time is; choose another name"):
        lamina.export(tmp_path / "m.mlir", tmp_path / "run.so", threads=2)
    with pytest.raises(UsageError, match="a net is not named 'run'"):
        lamina.compile(tmp_path / "m.mlir").export(tmp_path / "mine.o", "run")
    assert [f.name for f in tmp_path.iterdir()] == ["m.mlir"]


def test_what_such_a_processor_cannot_do_is_said(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(scaled(2.0))
    model, target = tmp_path / "m.mlir", "cortex-m4"
    with pytest.raises(UsageError, match="x.so: cortex-m4 has no system that loads a library; write small.a or"):
        lamina.export(model, tmp_path / "x.so", target)
    with pytest.raises(UsageError, match="code for cortex-m4 has one thread, not 2; leave threads out, or give 1"):
        lamina.export(model, tmp_path / "x.a", target, threads=2)
    with pytest.raises(InputError, match="code for cortex-m4 cannot run here: this machine is x86_64"):
        lamina.compile(model, target)
    with pytest.raises(UsageError, match="no machine 'cortex-m9'|unknown target 'cortex-m9'"):
        lamina.export(model, tmp_path / "x.a", "cortex-m9")
    other = named(target)._replace(triple="thumbv6m-unknown-none-eabi", cpu="cortex-m0").attr()
    with pytest.raises(UnsupportedError, match="there is no run-time for thumbv6m-unknown-none-eabi"):
        lamina.export(model, tmp_path / "x.a", other)
    assert [p.name for p in tmp_path.iterdir()] == ["m.mlir"]
    (tmp_path / "bad.a").write_bytes(b"!<arch>\n" + bytes(100))
    for file in ("bad.a", "m.mlir"):
        assert "is no net that Lamina has exported" in printed("inspect", tmp_path / file)


def test_inspect_says_what_the_linker_has_to_place(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(scaled(2.0))
    said: list[str] = []
    for suffix in (".a", ".o"):
        lamina.export(tmp_path / "m.mlir", tmp_path / f"small{suffix}", "cortex-m7")
        said.append(printed("inspect", tmp_path / f"small{suffix}"))
    assert said[0] == said[1]
    rows = dict(line.split(None, 1) for line in said[0].splitlines())
    assert rows["target"] == "thumbv7em-unknown-none-eabihf cortex-m7, 1 threads"
    assert rows["needs"] == "no other library" and rows["inputs"] == "x: float32[64]"
    whole = (tmp_path / "small.a").read_bytes()
    for size in range(0, len(whole), 97):
        (tmp_path / "cut.a").write_bytes(whole[:size])
        with pytest.raises(InputError, match="cut.a: is no net that Lamina has exported"):
            read_linkable(tmp_path / "cut.a")


def test_code_without_a_system_is_small_and_at_fixed_addresses() -> None:
    """No table of addresses has to be written when the program starts, and none is looked up."""
    text = "@t = constant [1 x ptr] [ptr @f]\ndefine ptr @f() {\n  ret ptr @t\n}"
    spec = named("cortex-m4")
    found = read_object(compile_object(text, Machine(spec.triple, spec.cpu, spec.features)), "f")
    assert not [s.name for s in found.sections if "got" in s.name or s.flags & 1]
    assert not [s.name for s in found.symbols if "GLOBAL_OFFSET" in s.name]
