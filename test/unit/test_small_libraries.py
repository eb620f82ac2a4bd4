"""Libraries that pack their weights when they are loaded give what others give, to the bit; what cannot is refused."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

import lamina
from lamina.backends.cpu.machines import processor
from lamina.backends.cpu.runtime.interface import CODES
from lamina.cli.command import run
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.relay import find_op
from lamina.dialects.relay.meaning import draw, np_results
from lamina.dialects.relay.nn.winograd import winograd_matrices
from lamina.dialects.relay.nn.winograd_blocked import ContribConv2dWinogradNCHWcWeightTransformOp
from lamina.dialects.relay.op_index import OPS
from lamina.driver.export import link_object
from lamina.driver.packing import packing_settings, same_bits
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.ir.targets import spec_of
from lamina.runtime.exported import ExportedNet, read_net
from tools.header import PATH as HEADER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not processor().triple.startswith("x86_64"), reason="libraries of x86-64 are loaded"),
]

ROOT = Path(__file__).parents[2]
CC, CXX = shutil.which("cc"), shutil.which("g++")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler `cc`")
needs_cxx = pytest.mark.skipif(CXX is None, reason="there is no C++ compiler `g++`")
Array = np.ndarray[Any, np.dtype[Any]]
RUN_NET = ROOT / "examples" / "deploy" / "c" / "run_net.c"


def onnx_model(nodes: list[Any], shape: list[int], weights: dict[str, Array]) -> Any:
    info = helper.make_tensor_value_info
    ends = [info("x", TensorProto.FLOAT, shape)], [info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", *ends, [numpy_helper.from_array(a, n) for n, a in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.asarray(np.random.default_rng(seed).standard_normal(shape) / 4, np.float32)


def convolutions(size: int = 64, count: int = 3) -> Any:
    """Convolutions with batch norms; Winograd's method does all but the first."""
    nodes: list[Any] = []
    weights: dict[str, Array] = {}
    x = "x"
    for n, (channels, out, stride) in enumerate(((3, 40, 2), (40, 64, 1), (64, 64, 1))[:count]):
        weights[f"w{n}"] = drawn(out, channels, 3, 3, seed=n)
        rows = np.random.default_rng(n).uniform(0.5, 1.5, (4, out)).astype(np.float32)
        weights |= {f"{name}{n}": row for name, row in zip("sbmv", rows, strict=True)}
        conv = helper.make_node("Conv", [x, f"w{n}"], [f"c{n}"], pads=[1] * 4, strides=[stride] * 2)
        norm = helper.make_node("BatchNormalization", [f"c{n}", *(f"{name}{n}" for name in "sbmv")], [f"n{n}"])
        nodes += [conv, norm, helper.make_node("Relu", [f"n{n}"], [x := f"r{n}"])]
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["y"]))
    return onnx_model(nodes, [1, 3, size, size], weights)


def transformer() -> Any:
    """A block of attention and products whose rows are no whole vectors."""
    width, heads, tokens = 130, 2, 12
    weights = {n: drawn(width, width, seed=k) for k, n in enumerate("qkvo")}
    weights |= {
        "up": drawn(width, 310, seed=5),
        "down": drawn(310, width, seed=6),
        "root": np.asarray([65**0.5], np.float32),
    }
    weights["split"] = np.asarray([1, tokens, heads, width // heads])
    weights["joined"] = np.asarray([1, tokens, width])
    nodes: list[Any] = []

    def node(kind: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, list(inputs), [f"t{len(nodes)}"], **attributes))
        return f"t{len(nodes) - 1}"

    def split(name: str, perm: list[int]) -> str:
        return node("Transpose", node("Reshape", node("MatMul", "x", name), "split"), perm=perm)

    scores = node("Softmax", node("Div", node("MatMul", split("q", [0, 2, 1, 3]), split("k", [0, 2, 3, 1])), "root"))
    mixed = node("Transpose", node("MatMul", scores, split("v", [0, 2, 1, 3])), perm=[0, 2, 1, 3])
    x = node("Add", "x", node("MatMul", node("Reshape", mixed, "joined"), "o"))
    wide = node("Tanh", node("MatMul", x, "up"))
    nodes.append(helper.make_node("Add", [x, node("MatMul", wide, "down")], ["y"]))
    return onnx_model(nodes, [1, tokens, width], weights)


def quantised() -> Any:
    """Weights of 8 bits that are computed with as floats."""
    random = np.random.default_rng(3)
    weights: dict[str, Array] = {}
    nodes: list[Any] = []
    x = "x"
    for n, (rows, columns) in enumerate(((64, 128), (128, 96))):
        weights[f"w{n}"] = random.integers(-128, 128, (rows, columns)).astype(np.int8)
        weights[f"s{n}"] = random.uniform(0.01, 0.03, columns).astype(np.float32)
        weights[f"z{n}"] = random.integers(-4, 4, columns).astype(np.int8)
        nodes.append(helper.make_node("DequantizeLinear", [f"w{n}", f"s{n}", f"z{n}"], [f"d{n}"], axis=1))
        nodes.append(helper.make_node("MatMul", [x, f"d{n}"], [f"m{n}"]))
        nodes.append(helper.make_node("Relu", [f"m{n}"], [x := f"r{n}"]))
    nodes.append(helper.make_node("Identity", [x], ["y"]))
    return onnx_model(nodes, [1, 64], weights)


MODELS = {f.__name__: f for f in (convolutions, transformer, quantised)}


class Pair(NamedTuple):
    """A net as a library with its weights, and as a small one."""

    model: Any
    plain: Path
    small: Path
    x: Array


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Pair]:
    made: dict[str, Pair] = {}

    def of(name: str) -> Pair:
        if name not in made:
            folder, model = tmp_path_factory.mktemp(name), MODELS[name]()
            for file, small in (("plain.so", False), ("small.so", True)):
                lamina.export(model, folder / file, name="net", threads=2, small=small)
            shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
            made[name] = Pair(model, folder / "plain.so", folder / "small.so", drawn(*shape, seed=9))
        return made[name]

    return of


def result(library: Path, x: Array, threads: int | None = None) -> Array:
    return ExportedNet(library, threads).run({"x": x})["y"]


def weights_of(model: Any) -> int:
    return sum(numpy_helper.to_array(t).nbytes for t in model.graph.initializer)


# Vectors of four fill the transformer's rows so well that no weight grows by the sixteenth that packing has to save.
@pytest.mark.parametrize(
    "name", ["convolutions", pytest.param("transformer", marks=pytest.mark.needs("x86-64-v3")), "quantised"]
)
def test_a_small_library_gives_the_same_bits_and_has_the_weights_of_the_model(
    name: str, pair: Callable[[str], Pair]
) -> None:
    model, plain, small, x = pair(name)
    files = read_net(plain, verify=True), read_net(small, verify=True)
    assert files[1].description["packs"]["bytes"] >= 4096 and "packs" not in files[0].description
    count = len(files[1].description["params"])
    assert files[1].weight_bytes <= 1.02 * weights_of(model) + 64 * count
    assert files[1].weight_bytes + 4096 <= files[0].weight_bytes
    assert files[1].description["arena"] == files[0].description["arena"]
    with ExportedNet(plain) as one, ExportedNet(small) as other:
        expected = one(x).tobytes()
        for _ in range(2):
            assert other(x).tobytes() == expected
    assert result(small, x, 1).tobytes() == result(plain, x, 1).tobytes()


def test_the_results_are_those_of_another_runtime(pair: Callable[[str], Pair]) -> None:
    onnxruntime: Any = pytest.importorskip("onnxruntime")
    plainly = onnxruntime.SessionOptions()  # it quantises what is multiplied with weights of 8 bits else
    plainly.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for name in MODELS:
        model, _, small, x = pair(name)
        expected = onnxruntime.InferenceSession(model.SerializeToString(), plainly).run(None, {"x": x})[0]
        np.testing.assert_allclose(result(small, x), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def by_c(program: list[str], library: Path, threads: int, x: Array, like: Array) -> Array:
    """The output of `run_net.c`."""
    given, result = library.parent / "x.raw", library.parent / "y.raw"
    x.tofile(given)
    subprocess.run([*program, library, "net", str(threads), "2", given, result], check=True, capture_output=True)
    return np.fromfile(result, like.dtype).reshape(like.shape)


def built(compiler: str, source: Path, folder: Path, *options: str) -> Path:
    program = folder / "program"
    words = [compiler, "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-I", str(HEADER.parent), *options]
    subprocess.run([*words, str(source), "-o", str(program), "-ldl", "-lpthread"], check=True)
    return program


@needs_cc
@pytest.mark.parametrize("name", MODELS)
def test_a_c_program_runs_it(name: str, pair: Callable[[str], Pair], tmp_path: Path) -> None:
    assert CC is not None
    _, plain, small, x = pair(name)
    program = built(CC, RUN_NET, tmp_path, "-std=c11")
    expected = result(plain, x)
    for threads in (1, 2):
        assert by_c([str(program)], small, threads, x, expected).tobytes() == expected.tobytes()


MISTAKES = """#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "lamina.h"
int main(int count, char **words) {
  (void)count;
  const lamina_net *net = (const lamina_net *)dlsym(dlopen(words[1], RTLD_NOW), "lamina_net");
  uint64_t bytes;
  net->sizes(NULL, 1, NULL, &bytes);
  char *state = aligned_alloc(64, (bytes + 63) / 64 * 64), *params = aligned_alloc(64, net->params_bytes + 64);
  char *room = aligned_alloc(64, net->room_bytes + 64);
  printf("%d %d ", lamina_packs(net), net->params == NULL);
  printf("%d %d ", net->start(state, NULL, 1, 0), net->start(state, params + 4, 1, 0));
  printf("%d %d ", net->pack(params + 8, room), net->pack(params, room + 32));
  printf("%d %d\\n%s\\n", net->pack(params, room), net->start(state, params, 1, 0), net->text(-9));
  return 0;
}
"""


@needs_cc
def test_what_a_c_program_is_told_of_mistakes(pair: Callable[[str], Pair], tmp_path: Path) -> None:
    """One that does not pack, as those that were compiled with an older header, is told that there are no weights."""
    assert CC is not None
    (tmp_path / "main.c").write_text(MISTAKES)
    program = built(CC, tmp_path / "main.c", tmp_path, "-std=c11")
    said = subprocess.run([program, pair("quantised").small], check=True, capture_output=True, text=True).stdout
    assert said.splitlines() == ["1 1 -9 -10 -10 -10 0 0", {c.number: c.text for c in CODES}[-9]]


TVM_PROGRAM = """#include <tvm/runtime/module.h>
#include <tvm/runtime/packed_func.h>
#include <cstdio>
int main(int, char **words) {
  tvm::runtime::Module library = tvm::runtime::Module::LoadFromFile(words[1]);
  tvm::runtime::NDArray x = tvm::runtime::NDArray::Empty({1, 64}, {kDLFloat, 32, 1}, {kDLCPU, 0});
  for (int n = 0; n < 64; n++) static_cast<float *>(x->data)[n] = float(n % 7) - 3;
  tvm::runtime::Module executor = library.GetFunction("default")(DLDevice{kDLCPU, 0});
  executor.GetFunction("set_input")("x", x);
  executor.GetFunction("run")();
  tvm::runtime::NDArray y = executor.GetFunction("get_output")(0);
  std::fwrite(y->data, 4, 96, stdout);
  library.GetFunction("default")(x, y);
  std::fwrite(y->data, 4, 96, stdout);
}
"""


@needs_cxx
def test_programs_for_tvm_run_it(pair: Callable[[str], Pair], tmp_path: Path) -> None:
    assert CXX is not None
    (tmp_path / "main.cc").write_text(TVM_PROGRAM)
    program = built(CXX, tmp_path / "main.cc", tmp_path, "-std=c++14")
    _, plain, small, _ = pair("quantised")
    said = subprocess.run([program, small], check=True, capture_output=True).stdout
    expected = result(plain, (np.arange(64) % 7 - 3).astype(np.float32).reshape(1, 64)).tobytes()
    assert said == expected * 2


OTHERS = {
    "aarch64": ("aarch64-linux-gnu", "qemu-aarch64"),
    "armv7": ("arm-linux-gnueabihf", "qemu-arm -cpu max"),
    "riscv64": ("riscv64-linux-gnu", "qemu-riscv64 -cpu rv64,v=true,vlen=128,vext_spec=v1.0"),
}
"""Machines that an emulator runs: the prefix of their compiler, and the emulator."""


@pytest.mark.parametrize("machine", OTHERS)
def test_other_processors_pack_the_same_bits(machine: str, tmp_path: Path) -> None:
    prefix, emulator = OTHERS[machine]
    compiler = shutil.which(f"{prefix}-gcc")
    if compiler is None or shutil.which(emulator.split()[0]) is None:
        pytest.skip(f"there is no {prefix}-gcc, or no {emulator.split()[0]}")
    program = [*emulator.split(), "-L", f"/usr/{prefix}", str(built(compiler, RUN_NET, tmp_path, "-std=c11", "-O1"))]
    x, like = drawn(1, 3, 32, 32), np.zeros((1, 64, 1, 1), np.float32)
    found: list[bytes] = []
    for file, small in (("plain.so", False), ("small.so", True)):
        lamina.export(convolutions(32, 2), tmp_path / file, machine, name="net", threads=1, small=small)
        found.append(by_c(program, tmp_path / file, 1, x, like).tobytes())
    assert read_net(tmp_path / "small.so").description["packs"]["bytes"] >= 4 * 4 * 40 * 64 * 4  # by Winograd's method
    assert found[0] == found[1]


def test_a_processor_that_rounds_otherwise_does_not_pack_what_is_computed(tmp_path: Path) -> None:
    """Vectors of armv7 take denormal numbers for zeros."""
    with pytest.raises(UnsupportedError, match="armv7 computes with floats otherwise"):
        lamina.export(quantised(), tmp_path / "net.so", "armv7", small=True)
    assert not list(tmp_path.iterdir())


def test_an_object_packs_as_well(pair: Callable[[str], Pair], tmp_path: Path) -> None:
    model, plain, _, x = pair("quantised")
    lamina.export(model, tmp_path / "net.o", name="net", threads=2, small=True)
    link_object(memoryview((tmp_path / "net.o").read_bytes()), tmp_path / "linked.so", "net.o")
    read_net(tmp_path / "linked.so", verify=True)
    assert result(tmp_path / "linked.so", x).tobytes() == result(plain, x).tobytes()


def test_a_build_gives_the_same_bytes_again(pair: Callable[[str], Pair], tmp_path: Path) -> None:
    model, _, small, _ = pair("quantised")
    lamina.export(model, tmp_path / "small.so", name="net", threads=2, small=True, cache=False)
    assert (tmp_path / "small.so").read_bytes() == small.read_bytes()


def test_damaged_files_are_refused(pair: Callable[[str], Pair], tmp_path: Path) -> None:
    small = pair("quantised").small
    net, whole, path = read_net(small), small.read_bytes(), tmp_path / "damaged.so"
    random = np.random.default_rng(1)
    for n in range(60):
        data = bytearray(whole[: int(random.integers(len(whole)))] if n % 10 == 0 else whole)
        if len(data) == len(whole):
            data[int(random.integers(0, net.code_bytes))] ^= int(random.integers(1, 256))
        path.write_bytes(data)
        with pytest.raises(InputError, match="is damaged|is no net that Lamina has exported|cannot read"):
            ExportedNet(path)
    data = bytearray(whole)
    data[-net.weight_bytes] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="is damaged"):
        ExportedNet(path, verify=True)


RELU = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.nn.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}"""


WHERE = "weights are packed as a net is loaded where a system loads it, which {} is not for"


@pytest.mark.parametrize(
    "words, says",
    [
        (["-o", "net.c"], f"net.c: {WHERE.format('C source')}"),
        (["-o", "net.wasm"], f"net.wasm: {WHERE.format('wasm32')}"),
        (["-o", "net.a", "--target", "cortex-m4"], f"net.a: {WHERE.format('cortex-m4')}"),
        (["-o", "net.so"], "net.so: a net without weights has none to pack"),
        (["-o", "net.lamina"], "--small is for a library"),
        ([], "--small is for a library"),
    ],
)
def test_what_cannot_be_small_is_said_in_one_line(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("relu.mlir").write_text(RELU)
    err = io.StringIO()
    assert run(["compile", "relu.mlir", *words, "--small"], io.StringIO(), err) == UsageError.exit_status
    assert says in err.getvalue() and len(err.getvalue().splitlines()) <= 2
    assert [p.name for p in tmp_path.iterdir()] == ["relu.mlir"]


def test_inspect_says_what_is_packed(pair: Callable[[str], Pair]) -> None:
    out = io.StringIO()
    assert run(["inspect", str(pair("convolutions").small)], out, io.StringIO()) == 0
    said = read_net(pair("convolutions").small).description["packs"]
    assert f"packs     {said['bytes']:,} bytes of weights when it is loaded, in a room of {said['room']:,}\n" in (
        out.getvalue()
    )


def test_the_program_that_packs_has_texts_at_every_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of a model: compiled as the library's, it gives the weights that the model's program has."""
    monkeypatch.chdir(tmp_path)
    model = onnx_model([helper.make_node("Add", ["x", "c"], ["y"])], [4, 256], {"c": drawn(4, 256)})
    for name, proto in (("convolutions", convolutions()), ("sum", model)):
        Path(f"{name}.onnx").write_bytes(proto.SerializeToString())
    assert run(["compile", "convolutions.onnx", "--small", "-o", "texts/"], io.StringIO(), io.StringIO()) == 0
    assert "relay.nn.contrib_conv2d_winograd_NCHWc_weight_transform" in Path("texts/relay.mlir").read_text()
    context = packing_settings(spec_of("cpu", 1)).context
    packed = lamina.compile("texts/relay.mlir", threads=1, opt_level=context, cache=False).run({})
    lamina.compile("convolutions.onnx", cache=False).save("net.lamina")
    whole = Path("net.lamina").read_bytes()
    assert len(packed) >= 2 and all(array.tobytes() in whole for array in packed.values())
    err = io.StringIO()
    assert run(["compile", "sum.onnx", "--small", "--emit", "relay"], io.StringIO(), err) == UsageError.exit_status
    assert "sum.onnx: packing enlarges none of its weights: no second program packs them" in err.getvalue()


def test_weights_that_packing_does_not_enlarge_are_written_as_ever(tmp_path: Path) -> None:
    model = onnx_model([helper.make_node("Mul", ["x", "w"], ["y"])], [4, 256], {"w": drawn(4, 256)})
    for file, small in (("a/net.so", False), ("b/net.so", True)):
        (tmp_path / file).parent.mkdir()
        lamina.export(model, tmp_path / file, threads=1, small=small)
    assert (tmp_path / "a/net.so").read_bytes() == (tmp_path / "b/net.so").read_bytes()


@pytest.mark.parametrize("tile, kernel", [(2, 3), (4, 3), (2, 5), (3, 2)])
def test_transformed_weights_are_the_products_of_matrices(tile: int, kernel: int) -> None:
    """Whose order is fixed since libraries compute them: einsum has another one, in extended precision."""
    weight = drawn(2, 3, kernel, kernel, 4, 8)
    g = np.asarray([[float(f) for f in row] for row in winograd_matrices(tile, kernel)[2]], np.longdouble)
    expected = np.einsum("er,oirscv,fs->efoicv", g, weight.astype(np.longdouble), g)
    found = ContribConv2dWinogradNCHWcWeightTransformOp.np_ref(weight, tile_size=tile)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2**-24 * float(np.abs(expected).max()))


EXACT = [name for name in OPS if getattr(find_op(name), "EXACT", False)]


@pytest.mark.parametrize("name", EXACT)
def test_kernels_of_exact_ops_give_the_bits_of_their_oracles(name: str) -> None:
    op_type: Any = find_op(name)
    settings = packing_settings(spec_of("cpu", 1))
    compared = 0
    for n, s in enumerate(op_type.samples()):
        into_integers = "int" in str(s.attrs.get("dtype")) and "float" in s.operands[0].dtype
        if s.error or into_integers:
            continue
        random = np.random.default_rng(n)
        ranges = s.ranges or (None,) * len(s.operands)
        arrays = [draw(o, r, s.finite, random) for o, r in zip(s.operands, ranges, strict=True)]
        block = Block(arg_types=[tensor_type(tuple(o.shape), o.dtype) for o in s.operands])
        made = op_type.make(*block.args, **s.attrs)
        block.add_ops([made, ReturnOp(*made.results)])
        type_ = FunctionType.from_lists(list(block.arg_types), list(made.result_types))
        module = ModuleOp([FuncOp("main", type_, Region(block))])
        exe = lamina.compile(module, threads=1, opt_level=settings.context)
        found = exe.run({p.name: a for p, a in zip(exe.inputs, arrays, strict=True)})
        for array, expected in zip(found.values(), np_results(op_type, arrays, s.attrs), strict=True):
            assert same_bits(array, np.ascontiguousarray(expected).astype(array.dtype)), f"sample {n}: {s}"
            compared += 1
    assert compared
