"""Nets as C source give what the program and onnxruntime give, compile without a warning, and do nothing undefined."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.c import net as c_net
from lamina.backends.cpu.runtime.interface import CODES
from lamina.cli.command import run as run_command
from lamina.debugging.c_source import HEADERS, STANDARD, CSourceNet, build, c_compiler
from lamina.debugging.engines import sums_saturate
from lamina.dialects.aligned_arrays import aligned, aligned_bytes
from lamina.errors import InputError, UnsupportedError, UsageError

from .test_export import model as small_model

needs_cc = pytest.mark.skipif(c_compiler() is None, reason="there is no C compiler `cc`")
pytestmark = pytest.mark.slow
ort: Any = pytest.importorskip("onnxruntime")

TRAPPED = ("-O0", "-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all", "-shared", "-fPIC")
Array = np.ndarray[Any, np.dtype[Any]]
FLOAT, INT64, INT8, UINT8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT8, TensorProto.UINT8


class Graph:
    """An ONNX graph in the making."""

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.inputs: list[Any] = []

    def input(self, name: str, shape: list[int], dtype: int = FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def weight(self, *shape: int, scale: float = 0.3) -> str:
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, array: Any) -> str:
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def op(self, kind: str, *operands: str, outputs: int = 1, **attributes: Any) -> Any:
        names = [f"t{len(self.nodes)}_{n}" for n in range(outputs)]
        self.nodes.append(helper.make_node(kind, operands, names, **attributes))
        return names[0] if outputs == 1 else names

    def model(self, *outputs: tuple[str, int]) -> Any:
        infos = [helper.make_tensor_value_info(n, t, None) for n, t in outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, infos, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convolutions() -> Any:
    """Plain, strided, grouped, depthwise and transposed ones, pools and a resize."""
    g = Graph(1)
    x = g.op("Relu", g.op("Conv", g.input("x", [1, 3, 9, 8]), g.weight(16, 3, 3, 3), pads=[1, 1, 1, 1]))
    y = g.op("Conv", x, g.weight(16, 1, 3, 3), group=16, strides=[2, 2], pads=[1, 1, 1, 1])
    y = g.op("Conv", y, g.weight(12, 4, 1, 1), group=4)
    y = g.op("AveragePool", g.op("HardSwish", y), kernel_shape=[2, 2], pads=[1, 1, 0, 0])
    up = g.op("ConvTranspose", y, g.weight(12, 5, 3, 3), strides=[2, 2])
    grown = g.op("Resize", up, "", g.constant(np.array([1, 1, 1.5, 2], np.float32)), mode="linear")
    top = g.op("MaxPool", grown, kernel_shape=[3, 3], strides=[2, 2])
    return g.model((top, FLOAT), (g.op("GlobalAveragePool", x), FLOAT))


def attention() -> Any:
    g = Graph(2)
    x = g.input("x", [2, 7, 24])
    q, k, v = (g.op("Transpose", g.op("Reshape", g.op("MatMul", x, g.weight(24, 24)), g.constant([2, 7, 3, 8])),
                    perm=[0, 2, 1, 3]) for _ in range(3))  # fmt: skip
    scores = g.op("Softmax", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), axis=-1)
    mixed = g.op("Reshape", g.op("Transpose", g.op("MatMul", scores, v), perm=[0, 2, 1, 3]), g.constant([2, 7, 24]))
    y = g.op("LayerNormalization", g.op("Add", mixed, x), g.weight(24), g.weight(24))
    y = g.op("Mul", y, g.op("Erf", y))
    return g.model((g.op("MatMul", g.op("Tanh", y), g.weight(24, 10)), FLOAT))


def recurrent() -> Any:
    g = Graph(3)
    x = g.input("x", [5, 2, 6])
    y, h, c = g.op(
        "LSTM", x, g.weight(2, 28, 6), g.weight(2, 28, 7), g.weight(2, 56), hidden_size=7, direction="bidirectional",
        outputs=3,
    )  # fmt: skip
    z, last = g.op("GRU", x, g.weight(1, 27, 6), g.weight(1, 27, 9), g.weight(1, 54), hidden_size=9, outputs=2)
    return g.model((y, FLOAT), (h, FLOAT), (c, FLOAT), (z, FLOAT), (last, FLOAT))


def quantised() -> Any:
    """A convolution and a product of bytes."""
    g = Graph(4)
    x = g.op("QuantizeLinear", g.input("x", [1, 8, 9, 9]), g.constant(np.float32(0.02)), g.constant(np.uint8(128)))
    w = g.constant(g.random.integers(-127, 127, (16, 8, 3, 3)).astype(np.int8))
    zero = g.constant(np.int8(0))
    scales = [g.constant(np.float32(s)) for s in (0.02, 0.01, 0.05)]
    middle, bias = g.constant(np.uint8(120)), g.constant(g.random.integers(-500, 500, 16).astype(np.int32))
    zeros = g.constant(np.uint8(128))
    y = g.op("QLinearConv", x, scales[0], zeros, w, scales[1], zero, scales[2], middle, bias, pads=[1, 1, 1, 1])
    flat = g.op("Reshape", y, g.constant([1, 16 * 81]))
    v = g.constant(g.random.integers(-127, 127, (16 * 81, 10)).astype(np.int8))
    small = g.constant(np.float32(2.0))
    z = g.op("QLinearMatMul", flat, scales[2], middle, v, scales[1], zero, small, middle)
    return g.model((y, UINT8), (z, UINT8), (g.op("DequantizeLinear", z, small, middle), FLOAT))


def selections() -> Any:
    """Integers: places, orders, casts, shifts of what wraps."""
    g = Graph(5)
    x, n = g.input("x", [4, 9]), g.input("n", [4, 9], INT64)
    values, places = g.op("TopK", x, g.constant([3]), axis=1, outputs=2)
    best = g.op("ArgMax", x, axis=0, keepdims=0)
    gathered = g.op("GatherElements", x, g.op("Mod", n, g.constant(np.int64(9)), fmod=0), axis=1)
    small = g.op("Cast", n, to=INT8)
    large = g.op("Mul", n, g.constant(np.int64(0x4000_0000_0000_0001)))
    whole = g.op("Cast", g.op("Mul", x, g.constant(np.float32(50))), to=TensorProto.INT32)
    half = g.op("Cast", g.op("Cast", x, to=TensorProto.FLOAT16), to=FLOAT)
    sums = g.op("CumSum", x, g.constant(np.int64(1)))
    where = g.op("Where", g.op("Less", x, g.constant(np.float32(0))), x, sums)
    scattered = g.op("ScatterND", x, g.constant(np.array([[0, 1], [3, 8]])), g.constant(np.array([7.0, 8.0], "f4")))
    outputs = [(values, FLOAT), (places, INT64), (best, INT64), (gathered, FLOAT), (small, INT8), (large, INT64)]
    outputs += [(whole, TensorProto.INT32), (half, FLOAT), (where, FLOAT), (scattered, FLOAT)]
    return g.model(*outputs)


NETS = {f.__name__: f for f in (convolutions, attention, recurrent, quantised, selections)}


def drawn(model: Any, seed: int = 0) -> dict[str, Array]:
    """Inputs of a model."""
    random, found = np.random.default_rng(seed), dict[str, Array]()
    for port in lamina.load(model).inputs:
        integer = port.dtype.startswith("int")
        values = random.integers(-900, 900, port.shape) if integer else random.standard_normal(port.shape)
        found[port.name] = np.asarray(values, port.dtype)
    return found


def compared(found: dict[str, Array], expected: dict[str, Array]) -> None:
    """Floats to 1e-5 of the largest, integers exactly."""
    for name, want in expected.items():
        got = found[name]
        assert got.dtype == want.dtype and got.shape == want.shape
        if want.dtype.kind == "f":
            assert np.abs(got - want).max() <= 1e-5 * max(np.abs(want).max(), 1), name
        else:
            assert np.array_equal(got, want), name


def exported(model: Any, folder: Path, *options: str, name: str = "of_mine") -> CSourceNet:
    """A net of C source, built with what C leaves undefined trapped."""
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    lamina.export(model, source)
    build(source, library, options or TRAPPED)
    return CSourceNet(library, name)


@needs_cc
@pytest.mark.parametrize("name", NETS)
def test_a_net_gives_what_the_program_and_onnxruntime_give(name: str, tmp_path: Path) -> None:
    model = NETS[name]()
    inputs = drawn(model)
    exe = lamina.compile(model, threads=1)
    net = exported(model, tmp_path)
    for mine, others in ((net.inputs, exe.inputs), (net.outputs, exe.outputs)):
        assert [(p.name, p.shape, p.dtype) for p in mine] == [(p.name, p.shape, p.dtype) for p in others]
    found = net.run(inputs)
    compared(found, exe.run(inputs))
    session = ort.InferenceSession(model.SerializeToString())
    results = session.run(None, inputs)
    expected = {o.name: np.asarray(r) for o, r in zip(session.get_outputs(), results, strict=True)}
    if name == "quantised" and sums_saturate():
        return
    if name == "quantised":  # products of bytes may round the other way at .5
        assert all(
            np.abs(found[n].astype(int) - e.astype(int)).max() <= 1 for n, e in expected.items() if e.dtype == np.uint8
        )
    else:
        compared(found, expected)


@needs_cc
@pytest.mark.parametrize("options", ["-O2", "-O3 -march=native -fno-math-errno -fno-trapping-math -g"])
@pytest.mark.parametrize("name", ["attention", "selections"])
def test_no_level_of_optimisation_warns(name: str, options: str, tmp_path: Path) -> None:
    """`build` makes warnings errors."""
    model = NETS[name]()
    inputs = drawn(model, 1)
    net = exported(model, tmp_path, *options.split(), "-shared", "-fPIC", name=name)
    compared(net.run(inputs), lamina.compile(model, threads=1).run(inputs))


CALLER = """#include <stdio.h>
#include <stdlib.h>
#include "lamina.h"
extern const lamina_net lamina_one, lamina_two;
static int run(const lamina_net *net, FILE *from) {
  const void *in[4];
  void *out[16];
  uint64_t bytes;
  if (lamina_check(net) || net->threads != 1 || net->bytes != sizeof *net) return 1;
  net->sizes(NULL, 1, NULL, &bytes);
  /* Not a byte more than it asks for: the sanitizer sees what lies beyond. */
  char *whole = aligned_alloc(64, (bytes + 63) / 64 * 64);
  for (uint32_t n = 0; n < net->n_inputs; n++) {
    void *input = malloc(net->inputs[n].bytes);
    if (fread(input, 1, net->inputs[n].bytes, from) != net->inputs[n].bytes) return 2;
    in[n] = input;
  }
  for (uint32_t n = 0; n < net->n_outputs; n++) out[n] = malloc(net->outputs[n].bytes);
  if (net->run(memset_zero(whole), in, out) != LAMINA_NO_STATE) return 3;
  if (net->start(whole + 8, NULL, 1, 0) != LAMINA_UNALIGNED_STATE) return 4;
  if (net->start(whole, NULL, 8, LAMINA_SPINS)) return 5;
  int32_t code = net->run(whole, in, out);
  if (code) printf("%d %s", (int)code, net->text(code));
  for (uint32_t n = 0; n < net->n_outputs && !code; n++) fwrite(out[n], 1, net->outputs[n].bytes, stdout);
  net->stop(whole);
  if (net->run(whole, in, out) != LAMINA_NO_STATE) return 6;
  for (uint32_t n = 0; n < net->n_inputs; n++) free((void *)in[n]);
  for (uint32_t n = 0; n < net->n_outputs; n++) free(out[n]);
  free(whole);
  return 0;
}
int main(void) {
  int code = run(&lamina_one, stdin);
  return code ? code : run(&lamina_two, stdin);
}
""".replace("memset_zero(whole)", "(*(uint64_t *)(void *)whole = 0, whole)")

MACHINES = {
    "here": ("cc", "", "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all"),
    "aarch64": ("aarch64-linux-gnu-gcc", "qemu-aarch64 -L /usr/aarch64-linux-gnu", "-O1"),
    "armv7": ("arm-linux-gnueabihf-gcc", "qemu-arm -L /usr/arm-linux-gnueabihf", "-O1"),
    "riscv64": ("riscv64-linux-gnu-gcc", "qemu-riscv64 -L /usr/riscv64-linux-gnu", "-O1"),
}
"""Compilers, what runs their programs, and options."""


@pytest.mark.parametrize("machine", MACHINES)
def test_two_nets_in_one_program_of_any_machine(machine: str, tmp_path: Path) -> None:
    compiler, emulator, options = MACHINES[machine]
    if not all(shutil.which(tool) for tool in (compiler, *emulator.split()[:1])):
        pytest.skip(f"there is no {compiler}, or nothing that runs its programs")
    models = {"one": NETS["recurrent"](), "two": small_model(0)}
    given: list[bytes] = []
    expected: list[Array] = []
    for name, model in models.items():
        lamina.export(model, tmp_path / f"{name}.c")
        exe = lamina.compile(model, threads=1)
        inputs = drawn(model) if name == "one" else {**drawn(model), "places": np.asarray([2, 1], np.int64)}
        given += [inputs[p.name].tobytes() for p in exe.inputs]
        expected += [exe.run(inputs)[p.name] for p in exe.outputs]
    (tmp_path / "main.c").write_text(CALLER)
    sources = [str(tmp_path / f"{n}.c") for n in ("main", *models)]
    words = [compiler, *STANDARD, "-Werror", *options.split(), "-I", str(HEADERS), *sources, "-o", tmp_path / "program"]
    subprocess.run([*words, "-lm"], check=True)
    program = [*emulator.split(), str(tmp_path / "program")]
    said = subprocess.run(program, input=b"".join(given), capture_output=True, check=False)
    assert said.returncode == 0, said.stderr.decode()
    at = 0
    for want in expected:
        got = np.frombuffer(said.stdout[at : at + want.nbytes], want.dtype).reshape(want.shape)
        at += want.nbytes
        compared({"y": got}, {"y": want})
    assert at == len(said.stdout)


@needs_cc
def test_what_the_net_refuses_is_said(tmp_path: Path) -> None:
    model = small_model(1)
    inputs = {**drawn(model), "places": np.asarray([1, 0], np.int64)}
    net = exported(model, tmp_path)
    with pytest.raises(InputError) as error:
        lamina.compile(model, threads=1).run(inputs)
    with pytest.raises(InputError, match=re.escape(error.value.what)):
        net.run(inputs)
    inputs["places"][1] = 1
    compared(net.run(inputs), lamina.compile(model, threads=1).run(inputs))
    net.stop()
    with pytest.raises(InputError, match="the state has not been started"):
        net.run(inputs)
    for code in CODES:
        with pytest.raises(InputError, match=re.escape(code.text)):
            net.check(code.number)
    with pytest.raises(InputError, match="there is no such code"):
        net.check(1000)


@needs_cc
def test_large_weights_are_a_file_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, source = NETS["attention"](), tmp_path / "large.c"
    inputs = drawn(model)
    in_text = exported(model, tmp_path, name="small").run(inputs)
    monkeypatch.setattr(c_net, "WEIGHTS_IN_TEXT", 100)
    lamina.export(model, source)
    weights = np.fromfile(tmp_path / "large.params", np.uint8)
    assert "0x" not in source.read_text("utf-8").split("struct state")[0].split("struct weights")[1]
    build(source, tmp_path / "large.so", TRAPPED)
    with pytest.raises(InputError, match="no weights of its own"):
        CSourceNet(tmp_path / "large.so", "large")
    beside = aligned_bytes(weights.nbytes + 1)[1:]
    with pytest.raises(InputError, match="the weights are at no multiple of 64 bytes"):
        CSourceNet(tmp_path / "large.so", "large", beside)
    net = CSourceNet(tmp_path / "large.so", "large", aligned(weights))
    assert net.record.params is None and net.record.params_bytes == weights.nbytes
    assert all(np.array_equal(a, in_text[n]) for n, a in net.run(inputs).items())


@needs_cc
@pytest.mark.parametrize("name", sorted(c_net.NAMES_OF_HEADER))
def test_names_that_the_header_has(name: str, tmp_path: Path) -> None:
    """The file is `net.c`, its symbol `lamina_net`: so is the type of the record."""
    inputs = drawn(small_model(0)) | {"places": np.asarray([2, 1], np.int64)}
    net = exported(small_model(0), tmp_path, "-O0", "-shared", "-fPIC", name=name)
    compared(net.run(inputs), lamina.compile(small_model(0), threads=1).run(inputs))


@needs_cc
def test_names_of_tensors_are_any_text(tmp_path: Path) -> None:
    """Quotes, trigraphs, ends of comments, what is not ASCII: the port's name is the model's, and the text compiles."""
    given, result, weight = 'a??/"b\\ \u00e9\x01', "y\n0", "w*/ /* ??/\n"
    info = helper.make_tensor_value_info
    ends = [info(given, TensorProto.FLOAT, [2, 300])], [info(result, TensorProto.FLOAT, None)]
    w = numpy_helper.from_array(np.arange(300, dtype=np.float32), weight)
    graph = helper.make_graph([helper.make_node("Add", [given, weight], [result])], "g", *ends, [w])
    net = exported(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path)
    assert ([p.name for p in net.inputs], [p.name for p in net.outputs]) == ([given], [result])
    x = np.ones((2, 300), np.float32)
    np.testing.assert_array_equal(net.run({given: x})[result], x + numpy_helper.to_array(w))


def test_the_names_of_the_header_are_those() -> None:
    text = (HEADERS / "lamina.h").read_text("utf-8")
    declared = set(re.findall(r"^} lamina_(\w+);|^static inline \w+ lamina_(\w+)\(", text, re.MULTILINE))
    assert {a or b for a, b in declared} == c_net.NAMES_OF_HEADER


def test_equal_models_give_equal_texts(tmp_path: Path) -> None:
    for n in range(2):
        lamina.export(small_model(2), tmp_path / f"{n}.c", name="same")
    assert (tmp_path / "0.c").read_bytes() == (tmp_path / "1.c").read_bytes()


def test_what_cannot_be_source_is_said(tmp_path: Path) -> None:
    model, path = small_model(0), tmp_path / "net.c"
    for how, what in (
        ({"threads": 2}, "C source has one thread"),
        ({"target": "aarch64"}, "C source is for any machine, not for aarch64"),
        ({"target": "openblas, c"}, "C source is for any machine"),
        ({"name": "1st"}, "the name of a net is one of C, not '1st'"),
    ):
        with pytest.raises(UsageError, match=re.escape(what)):
            lamina.export(model, path, **how)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="this program is machine code"):
        lamina.compile(model, threads=1).export(path)
    with pytest.raises(UsageError, match="the target 'c' is source"):
        lamina.export(model, tmp_path / "net.so", "c")
    with pytest.raises(InputError, match="cannot run here"):
        lamina.compile(model, "c")
    with pytest.raises(InputError, match="cannot write: No such file or directory"):
        lamina.export(model, tmp_path / "none" / "net.c")
    g = Graph()
    open_model = g.model((g.op("Relu", g.input("x", ["n", 3])), FLOAT))  # type: ignore[list-item]
    with pytest.raises(UnsupportedError, match="no kernels in a fixed order of known extents"):
        lamina.export(open_model, path)
    assert not list(tmp_path.iterdir())


def command(*words: object) -> tuple[int, str, str]:
    """The exit status of a command, and what it says."""
    out, err = io.StringIO(), io.StringIO()
    return run_command([str(w) for w in words], out, err), out.getvalue(), err.getvalue()


def test_the_command_line(tmp_path: Path) -> None:
    model, path = tmp_path / "m.onnx", tmp_path / "m.c"
    model.write_bytes(small_model(0).SerializeToString())
    assert command("compile", model, "-o", path)[:2] == (0, f"{path}\n")
    assert "const lamina_net lamina_m = {" in path.read_text("utf-8")
    status, _, said = command("compile", model, "--target", "c", "--emit", "ll")
    assert status != 0 and "the target 'c' has no text of the level ll" in said
    status, _, said = command("compile", model, "--sanitize", "-o", tmp_path / "n.c")
    assert status != 0 and "--sanitize is for programs that run here" in said
    assert not (tmp_path / "n.c").exists()
