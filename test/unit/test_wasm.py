"""Modules of WebAssembly give what onnxruntime gives, in node and in wasmtime; what is no such file is refused."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import models  # noqa: E402

import lamina
from lamina.backends.cpu.runtime.interface import NET, integer_bits
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.runtime.exported import ExportedNet, read_net
from lamina.runtime.ports import Port

from .turns import each_second

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NODE = shutil.which("node")
CHROMIUM = shutil.which("chromium")
RUNNER = ROOT / "examples" / "deploy" / "wasm" / "run_net.mjs"
needs_node = pytest.mark.skipif(NODE is None, reason="there is no `node`")
Array = np.ndarray[Any, np.dtype[Any]]
Arrays = dict[str, Array]
FLOAT, INT8, UINT8, INT64 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT64


class Small:
    """A model as it grows: its weights are random."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def weight(self, array: Any) -> str:
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def normal(self, *shape: int) -> str:
        return self.weight((0.3 * self.random.standard_normal(shape)).astype(np.float32))

    def node(self, op: str, *inputs: str, outputs: Sequence[str] = (), **attributes: Any) -> str:
        names = list(outputs) or [f"t{len(self.nodes)}"]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[0]

    def model(self, inputs: Mapping[str, tuple[int, Sequence[int]]], *outputs: str) -> Any:
        given = [helper.make_tensor_value_info(n, kind, list(shape)) for n, (kind, shape) in inputs.items()]
        results = [helper.make_empty_tensor_value_info(n) for n in outputs]
        graph = helper.make_graph(self.nodes, "g", given, results, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convolutions(m: Small) -> Any:
    """Windows with borders, strides, groups, a depthwise one and a transposed one, then a softmax."""
    pads = [1, 1, 1, 1]
    a = m.node("Conv", "x", m.normal(16, 3, 3, 3), m.normal(16), pads=pads, strides=[2, 2])
    b = m.node("Conv", m.node("Relu", a), m.normal(16, 1, 3, 3), pads=pads, group=16)
    c = m.node("Conv", b, m.normal(24, 8, 5, 5), pads=[2, 2, 2, 2], group=2)
    d = m.node("ConvTranspose", c, m.normal(24, 5, 2, 2), strides=[2, 2])
    e = m.node("Conv", d, m.normal(7, 5, 3, 3), pads=[0, 1, 2, 0], dilations=[2, 1])
    p = m.node("MaxPool", e, kernel_shape=[3, 3], pads=pads, strides=[2, 2])
    return m.model({"x": (FLOAT, (1, 3, 21, 26))}, m.node("Softmax", p, axis=1), m.node("GlobalAveragePool", e))


def winograd(m: Small) -> Any:
    """A convolution that is computed by Winograd's method, and a product on its result."""
    a = m.node("Conv", "x", m.normal(32, 32, 3, 3), m.normal(32), pads=[1, 1, 1, 1])
    b = m.node("Flatten", m.node("GlobalAveragePool", m.node("Relu", a)))
    return m.model({"x": (FLOAT, (1, 32, 24, 24))}, m.node("Gemm", b, m.normal(32, 50), m.normal(50)))


def functions(m: Small) -> Any:
    """Functions that Lamina computes itself, without a multiply-add that rounds once here."""
    names = [m.node(op, "x") for op in ("Exp", "Tanh", "Sigmoid", "Erf", "Softplus", "Round", "Elu")]
    x = m.node("Abs", "x")
    return m.model({"x": (FLOAT, (37, 11))}, *names, m.node("Log", x), m.node("Sqrt", x), m.node("Softmax", "x"))


def recurrent(m: Small) -> Any:
    """An LSTM and a GRU."""
    h = m.node("LSTM", "x", m.normal(1, 36, 12), m.normal(1, 36, 9), m.normal(1, 72), hidden_size=9)
    s = m.node("Squeeze", h, m.weight(np.asarray([1], np.int64)))
    return m.model({"x": (FLOAT, (6, 2, 12))}, m.node("GRU", s, m.normal(1, 15, 9), m.normal(1, 15, 5), hidden_size=5))


def gathered(m: Small) -> Any:
    """Rows and elements by number, those of a reversed tensor, casts to half the bits and back."""
    last = m.node("Slice", "x", *(m.weight(np.asarray([n], np.int64)) for n in (-1, -1000, 1, -1)))
    rows = m.node("Gather", last, "places", axis=0)
    half = m.node("Cast", m.node("Cast", rows, to=TensorProto.FLOAT16), to=FLOAT)
    short = m.node("Cast", m.node("Cast", rows, to=TensorProto.BFLOAT16), to=FLOAT)
    top = m.node("TopK", "x", m.weight(np.asarray([3], np.int64)), outputs=["values", "indices"])
    return m.model({"x": (FLOAT, (40, 19)), "places": (INT64, (5,))}, rows, half, short, top, "indices")


def bytes_(m: Small) -> Any:
    """A quantised convolution and products of bytes."""
    scale, zero = m.weight(np.float32(0.05)), m.weight(np.uint8(120))
    w = m.weight(m.random.integers(-127, 128, (20, 12, 3, 3)).astype(np.int8))
    quantised = ["b", scale, zero, w, m.weight(np.float32(0.02)), m.weight(np.int8(0)), m.weight(np.float32(1.5)), zero]
    a = m.node("QLinearConv", *quantised, pads=[1, 1, 1, 1])
    v = m.weight(m.random.integers(-128, 128, (13, 40)).astype(np.int8))
    return m.model(
        {"b": (UINT8, (1, 12, 9, 13))}, a, m.node("MatMulInteger", "b", v), m.node("DequantizeLinear", a, scale)
    )


def integers(m: Small) -> Any:
    """Divisions and remainders of integers of 64 bits."""
    return m.model({"a": (INT64, (50,)), "b": (INT64, (50,))}, m.node("Div", "a", "b"), m.node("Mod", "a", "b"))


MODELS: tuple[Callable[[Small], Any], ...] = (convolutions, winograd, functions, recurrent, gathered, bytes_, integers)


def drawn(ports: Sequence[Port], seed: int = 0) -> Arrays:
    random = np.random.default_rng(seed)

    def array(port: Port) -> Any:
        if port.dtype == "float32":
            return random.standard_normal(port.shape)
        return random.integers(*((0, 256) if port.dtype == "uint8" else (1, 20)), port.shape)

    return {p.name: np.asarray(array(p)).astype(p.dtype) for p in ports}


def by_node(path: Path, inputs: Arrays, outputs: Sequence[Port]) -> Arrays:
    """The outputs of `run_net.mjs`."""
    files = [path.parent / f"{n}.raw" for n in range(len(inputs) + len(outputs))]
    for file, array in zip(files, inputs.values(), strict=False):
        array.tofile(file)
    end = subprocess.run([str(NODE), RUNNER, path, "2", *files], capture_output=True, text=True, check=False)
    if end.returncode:
        raise RuntimeError(end.stderr)
    given = zip(files[len(inputs) :], outputs, strict=True)
    return {p.name: np.fromfile(f, numpy_dtype(p.dtype)).reshape(p.shape) for f, p in given}


class Module:
    """A module in wasmtime, whose record is read as `lamina.h` declares it."""

    def __init__(self, path: Path) -> None:
        wasmtime = pytest.importorskip("wasmtime")
        self.store: Any = wasmtime.Store()
        module = wasmtime.Module(self.store.engine, path.read_bytes())
        assert not module.imports
        self.exports: Any = wasmtime.Instance(self.store, module, []).exports(self.store)
        self.memory = self.exports["memory"]
        self.record = self.read(
            NET, next(self.exports[e.name].value(self.store) for e in module.exports if e.name.startswith("lamina_"))
        )
        self.end: int = self.exports["__heap_base"].value(self.store)

    def read(self, members: Any, at: int) -> dict[str, int]:
        found: dict[str, int] = {}
        for m in members:
            size = integer_bits(m) // 8 or 4
            at += -at % size
            found[m.name] = int.from_bytes(self.memory.read(self.store, at, at + size), "little")
            at += size
        return {**found, "end": at}

    def text(self, at: int) -> str:
        return bytes(self.memory.read(self.store, at, at + 200)).partition(b"\0")[0].decode()

    def room(self, size: int) -> int:
        at = -(-self.end // 64) * 64
        self.end = at + size
        missing = self.end - self.memory.data_len(self.store)
        if missing > 0:
            self.memory.grow(self.store, -(-missing // 65536))
        return at

    def run(self, inputs: Arrays, outputs: Sequence[Port]) -> Arrays:
        """The outputs, by the functions of the record: numbers in the table."""
        table = self.exports["__indirect_function_table"]
        call = {name: table.get(self.store, self.record[name]) for name in ("sizes", "start", "run", "stop", "text")}
        answer = self.room(8)
        assert call["sizes"](self.store, 0, 1, 0, answer) == 0
        state = self.room(int.from_bytes(self.memory.read(self.store, answer, answer + 8), "little"))
        places = [self.room(max(a.nbytes, 1)) for a in inputs.values()]
        for at, array in zip(places, inputs.values(), strict=True):
            self.memory.write(self.store, array.tobytes(), at)
        results = [self.room(math.prod(p.shape) * numpy_dtype(p.dtype).itemsize) for p in outputs]
        rows = self.room(4 * len(places + results))
        self.memory.write(self.store, np.asarray(places + results, np.uint32).tobytes(), rows)
        assert call["run"](self.store, state, rows, rows + 4 * len(places)) == -1  # it has not been started
        assert call["start"](self.store, state, 0, 1, 0) == 0
        code = call["run"](self.store, state, rows, rows + 4 * len(places))
        if code:
            raise RuntimeError(self.text(call["text"](self.store, code)))
        found: Arrays = {}
        for p, at in zip(outputs, results, strict=True):
            data = self.memory.read(self.store, at, at + math.prod(p.shape) * numpy_dtype(p.dtype).itemsize)
            found[p.name] = np.frombuffer(bytes(data), numpy_dtype(p.dtype)).reshape(p.shape)
        return found


def expected(model: Any, inputs: Arrays) -> list[Array]:
    session: Any = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def assert_near(found: Arrays, wanted: Sequence[Array], tolerance: float) -> None:
    for (name, array), other in zip(found.items(), wanted, strict=True):
        assert array.dtype == other.dtype and array.shape == other.shape, name
        if array.dtype.kind == "f":
            largest = max(float(np.abs(other).max()), 1.0)
            np.testing.assert_allclose(array, other, rtol=0, atol=tolerance * largest, err_msg=name)
        else:
            np.testing.assert_array_equal(array, other, err_msg=name)


@needs_node
@pytest.mark.parametrize("made", each_second(MODELS), ids=lambda f: f.__name__.strip("_"))
def test_small_networks_in_node(made: Callable[[Small], Any], tmp_path: Path) -> None:
    model = made(Small(0))
    lamina.export(model, tmp_path / "net.wasm")
    net = read_net(tmp_path / "net.wasm", verify=True)
    inputs = drawn(net.inputs)
    assert_near(by_node(tmp_path / "net.wasm", inputs, net.outputs), expected(model, inputs), 1e-5)


@pytest.mark.parametrize("made", MODELS, ids=lambda f: f.__name__.strip("_"))
def test_small_networks_in_wasmtime(made: Callable[[Small], Any], tmp_path: Path) -> None:
    pytest.importorskip("wasmtime")
    model = made(Small(3))
    lamina.export(model, tmp_path / "net.wasm")
    net = read_net(tmp_path / "net.wasm")
    inputs = drawn(net.inputs, 3)
    assert_near(Module(tmp_path / "net.wasm").run(inputs, net.outputs), expected(model, inputs), 1e-5)


@needs_node
@pytest.mark.parametrize(
    "name", ["squeezenet", *(pytest.param(n, marks=pytest.mark.long) for n in ("shufflenet", "inception_v1"))]
)
def test_light_models_agree_with_onnxruntime(name: str, tmp_path: Path) -> None:
    model = models.light_model(name)
    # A softmax would hide what goes into it where one class is far ahead.
    model = models.with_extra_outputs(model, [models.before_softmax(model)])
    lamina.export(model, tmp_path / "net.wasm")
    net = read_net(tmp_path / "net.wasm")
    inputs = models.random_input(model)
    wanted = expected(model, inputs)
    assert_near(by_node(tmp_path / "net.wasm", inputs, net.outputs), wanted, 1e-4)
    try:
        import wasmtime  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
    except ImportError:
        return
    assert_near(Module(tmp_path / "net.wasm").run(inputs, net.outputs), wanted, 1e-4)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small net: a quotient of integers, and a product."""
    m = Small(0)
    model = m.model(
        {"x": (FLOAT, (4, 16)), "n": (INT64, (3,))},
        m.node("MatMul", "x", m.normal(16, 10)),
        m.node("Div", m.weight(np.asarray(100, np.int64)), "n"),
    )
    folder = tmp_path_factory.mktemp("wasm")
    (folder / "net.onnx").write_bytes(model.SerializeToString())
    lamina.export(folder / "net.onnx", folder / "net.wasm")
    return folder / "net.wasm"


@needs_node
def test_node_is_told_of_a_division_by_zero(net: Path) -> None:
    described = read_net(net)
    inputs = drawn(described.inputs)
    inputs["n"][1] = 0
    with pytest.raises(InputError) as error:
        lamina.compile(net.with_suffix(".onnx"), threads=1).run(inputs)
    with pytest.raises(RuntimeError) as said:
        by_node(net, inputs, described.outputs)
    assert str(said.value) == f"error: {error.value.what}\n"


@needs_node
def test_what_node_is_told_of_mistakes(net: Path, tmp_path: Path) -> None:
    described = read_net(net)
    inputs = drawn(described.inputs)
    with pytest.raises(RuntimeError, match="another number of inputs and outputs"):
        by_node(net, {"x": inputs["x"]}, described.outputs)
    with pytest.raises(RuntimeError, match=r"0\.raw: 256 bytes are expected"):
        by_node(net, {"x": inputs["x"][:2], "n": inputs["n"]}, described.outputs)
    (tmp_path / "other.wasm").write_bytes(b"\0asm\1\0\0\0")
    with pytest.raises(RuntimeError, match="this module is no net of Lamina's"):
        by_node(tmp_path / "other.wasm", inputs, described.outputs)


@needs_node
def test_a_module_imports_nothing_and_exports_the_record(net: Path) -> None:
    program = f"""
const module = new WebAssembly.Module(require("fs").readFileSync({str(net)!r}));
console.log(WebAssembly.Module.imports(module).length);
for (const e of WebAssembly.Module.exports(module)) console.log(e.name, e.kind);
"""
    said = subprocess.run([str(NODE), "-e", program], capture_output=True, text=True, check=True).stdout
    assert said.split("\n") == [
        "0",
        "memory memory",
        "__indirect_function_table table",
        "__heap_base global",
        "lamina_net global",
        *(f"{name} function" for name in ("sizes", "start", "run", "stop", "text")),
        "",
    ]


def test_a_build_gives_the_same_bytes_in_another_process(net: Path, tmp_path: Path) -> None:
    """And needs no tool: the path of commands is empty there."""
    words = ["-m", "lamina.cli", "compile", str(net.with_suffix(".onnx")), "-o", "net.wasm", "--no-cache"]
    environment = {**os.environ, "PATH": "", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "net.wasm").read_bytes() == net.read_bytes()


def test_damaged_files_are_refused(net: Path, tmp_path: Path) -> None:
    whole, described = net.read_bytes(), read_net(net, verify=True)
    random, path = np.random.default_rng(1), tmp_path / "damaged.wasm"
    assert described.code_bytes + described.weight_bytes == len(whole)
    for n in range(300):
        data = bytearray(whole)
        if n % 10 == 0:
            data = data[: int(random.integers(0, len(data)))]
        elif n % 10 == 1:
            data += bytes(int(random.integers(1, 100)))
        else:
            data[int(random.integers(0, described.code_bytes))] ^= int(random.integers(1, 256))
        path.write_bytes(data)
        with pytest.raises(InputError, match="is no net that Lamina has exported|is damaged"):
            read_net(path)
    data = bytearray(whole)
    data[described.code_bytes + 9] ^= 1
    path.write_bytes(data)
    assert read_net(path).build_id == described.build_id
    with pytest.raises(InputError, match="is damaged"):
        read_net(path, verify=True)


@pytest.mark.parametrize(
    "name, machine, threads, kind, says",
    [
        ("net.so", "wasm32", None, UsageError, r"net\.so: wasm32 is written into a file \*\.wasm"),
        ("net.wasm", "aarch64", None, UsageError, "a module of WebAssembly has no code for aarch64-unknown-linux-gnu"),
        ("net.wasm", "wasm32", 2, UsageError, "code for wasm32 has one thread, not 2"),
        ("no/net.wasm", "wasm32", None, InputError, "cannot write: No such file or directory"),
    ],
)
def test_mistakes_of_a_call(
    name: str, machine: str, threads: int | None, kind: type[LaminaError], says: str, net: Path, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=says):
        lamina.export(net.with_suffix(".onnx"), tmp_path / name, machine, threads=threads)
    assert not list(tmp_path.iterdir())


def test_a_machine_of_several_threads_is_refused(net: Path, tmp_path: Path) -> None:
    from lamina.backends.cpu.jit import named_target

    with pytest.raises(UsageError, match="code for wasm32 has one thread, not 4"):
        lamina.export(net.with_suffix(".onnx"), tmp_path / "net.wasm", named_target("wasm32", 4))


def test_functions_of_a_library_are_refused_by_name(tmp_path: Path) -> None:
    m = Small(0)
    with pytest.raises(LaminaError, match="kernel fused_sin: it calls sinf, which no object has"):
        lamina.export(m.model({"x": (FLOAT, (64,))}, m.node("Sin", "x")), tmp_path / "sin.wasm")
    assert not list(tmp_path.iterdir())


def test_python_says_that_it_does_not_run_modules(net: Path) -> None:
    with pytest.raises(UnsupportedError, match="is a module of WebAssembly, which Python does not run"):
        ExportedNet(net)


@needs_node
def test_pixels_of_a_canvas_become_planes() -> None:
    program = f"""
import {{ best, planes }} from {str(RUNNER)!r};
const pixels = Uint8ClampedArray.from([0, 51, 255, 9, 102, 153, 204, 9]);
console.log(JSON.stringify([Array.from(planes(pixels, [0, 0.2, 0], [1, 1, 0.5])), best(Float32Array.from([3, 7, 5]))]));
"""
    words = [str(NODE), "--input-type=module", "-e", program]
    found, largest = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    np.testing.assert_allclose(found, [0, 0.4, 0, 0.4, 2, 1.6], atol=1e-6)
    assert largest == {"index": 1, "value": 7}


PAGE = """<!doctype html>
<iframe src="index.html"></iframe>
<pre id="said"></pre>
<script>
  const frame = document.querySelector("iframe");
  const answer = () => frame.contentDocument?.getElementById("answer")?.textContent ?? "";
  const until = async (test) => {
    while (!test(answer())) await new Promise((go) => setTimeout(go, 20));
  };
  (async () => {
    await until((text) => /choose an image|error/.test(text));
    const input = frame.contentDocument.getElementById("file");
    const files = new DataTransfer();
    files.items.add(new File([await (await fetch("image.png")).blob()], "image.png", { type: "image/png" }));
    input.files = files.files;
    input.dispatchEvent(new Event("change"));
    await until((text) => /ms$|error/.test(text));
    document.getElementById("said").textContent = answer();
  })();
</script>
"""
"""A page that uses the page of the example as a user does."""


def png(pixels: Array) -> bytes:
    """The file of an image uint8[height, width, 3]."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    chunks = [struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no `chromium`")
def test_the_web_page_in_a_browser(tmp_path: Path) -> None:
    m = Small(0)
    a = m.node("Conv", "image", m.normal(16, 3, 7, 7), strides=[4, 4])
    b = m.node("Flatten", m.node("MaxPool", m.node("Relu", a), kernel_shape=[9, 9], strides=[9, 9]))
    model = m.model({"image": (FLOAT, (1, 3, 224, 224))}, m.node("Gemm", b, m.normal(576, 100)))
    for name in ("index.html", "run_net.mjs"):
        shutil.copy(RUNNER.with_name(name), tmp_path)
    lamina.export(model, tmp_path / "net.wasm")
    (tmp_path / "labels.txt").write_text("".join(f"label {n}\n" for n in range(100)))
    (tmp_path / "page.html").write_text(PAGE)
    pixels = np.random.default_rng(0).integers(0, 256, (224, 224, 3), np.uint8)
    (tmp_path / "image.png").write_bytes(png(pixels))
    mean, deviation = (np.asarray(v, np.float32) for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
    image = ((pixels.astype(np.float32) / 255 - mean) / deviation).transpose(2, 0, 1)[None]
    wanted = expected(model, {"image": np.ascontiguousarray(image)})[0][0]

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        words = [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
        ]
        address = f"http://127.0.0.1:{server.server_port}/page.html"
        words += ["--virtual-time-budget=60000", "--dump-dom", address]
        said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout
        server.shutdown()
    found = re.search(r'<pre id="said">label (\d+) \((\S+)\), \d+ ms</pre>', said)
    assert found is not None, said
    assert int(found[1]) == int(wanted.argmax()) and abs(float(found[2]) - wanted.max()) < 0.01 * abs(wanted.max())
