"""tvmc: models compiled into packages, packages run here and in an emulator, kernels tuned; mistakes in one line."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay
from lamina.compat.tvm.driver import tvmc
from lamina.compat.tvm.driver.tvmc import main
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError

from .external_programs import needs_openblas

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
Array = np.ndarray[Any, np.dtype[Any]]


def quantised() -> Any:
    """A quantised network: a convolution of bytes, a dense layer, and a softmax over its classes."""
    random = np.random.default_rng(3)
    info, node = helper.make_tensor_value_info, helper.make_node
    arrays = {
        "xs": np.float32(0.02), "xz": np.uint8(128), "ws": np.float32(0.01), "wz": np.int8(0),
        "ys": np.float32(0.05), "yz": np.uint8(3), "ms": np.float32(1), "ds": np.float32(0.03),
        "vs": np.float32(0.02), "shape": np.asarray([1, -1], np.int64),
        "w": random.integers(-127, 128, (8, 3, 3, 3)).astype(np.int8),
        "v": random.integers(-127, 128, (8 * 6 * 6, 10)).astype(np.int8),
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["c"]),
        node("Reshape", ["c", "shape"], ["r"]),
        node("QLinearMatMul", ["r", "ys", "yz", "v", "vs", "wz", "ms", "xz"], ["m"]),
        node("DequantizeLinear", ["m", "ds", "xz"], ["d"]),
        node("Softmax", ["d"], ["y"], axis=1),
    ]
    stored = [numpy_helper.from_array(np.asarray(a), name) for name, a in arrays.items()]
    ports = info("x", TensorProto.FLOAT, [1, 3, 8, 8]), info("y", TensorProto.FLOAT, [1, 10])
    graph = helper.make_graph(nodes, "g", [ports[0]], [ports[1]], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Array, Array]:
    """The file of the model, an input, and what onnxruntime makes of it."""
    path = tmp_path_factory.mktemp("tvmc") / "net.onnx"
    path.write_bytes(quantised().SerializeToString())
    x: Array = np.random.default_rng(0).standard_normal((1, 3, 8, 8)).astype(np.float32)
    np.savez(path.with_name("x.npz"), x=x)
    return path, x, by_onnxruntime(path, x)


def by_onnxruntime(path: Path, x: Array) -> Array:
    session: Any = onnxruntime.InferenceSession(str(path))
    (expected,) = session.run(None, {"x": x})
    return np.asarray(expected)


def command(*words: str | Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = main.run([str(w) for w in words], out, err)
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def package(case: tuple[Path, Array, Array]) -> Path:
    path = case[0].with_name("module.tar")
    assert command("compile", case[0], "--target", "llvm -num-cores=1", "-o", path) == (0, "", "")
    return path


# -- compile and run -------------------------------------------------------------------------------------------


def test_a_package_is_compiled_and_run(case: tuple[Path, Array, Array], package: Path, tmp_path: Path) -> None:
    path, _, expected = case
    with tarfile.open(package) as archive:
        assert archive.getnames() == ["mod.so", "mod.json", "mod.params"]
        graph = json.load(archive.extractfile("mod.json"))  # type: ignore[arg-type]
    assert {"nodes", "arg_nodes", "heads", "attrs", "node_row_ptr"} <= graph.keys()
    y = tmp_path / "y.npz"
    given = ("run", "-i", path.with_name("x.npz"), "-o", y, "--print-top", "3", "--print-time", "--repeat", "2")
    status, out, err = command(*given, package)
    assert (status, err) == (0, "")
    np.testing.assert_allclose(np.load(y)["output_0"], expected, rtol=1e-5)
    assert "mean (ms)" in out
    rows = out.strip().splitlines()[-2:]
    found = [[float(n) for n in row.strip(" []").split()] for row in rows]
    order = np.argsort(-expected[0], kind="stable")[:3]
    np.testing.assert_allclose(found[1], expected[0][order], rtol=1e-5)
    assert found[0] == [float(n) for n in order]


def test_equal_models_give_equal_packages(case: tuple[Path, Array, Array], package: Path, tmp_path: Path) -> None:
    assert command("compile", case[0], "--target", "llvm -num-cores=1", "-o", tmp_path / "m.tar")[0] == 0
    assert (tmp_path / "m.tar").read_bytes() == package.read_bytes()


@pytest.mark.parametrize("mode", ["zeros", "ones", "random"])
def test_inputs_that_are_not_given_are_filled(case: tuple[Path, Array, Array], package: Path, mode: str) -> None:
    y = case[0].with_name("filled.npz")
    assert command("run", "--fill-mode", mode, "-o", y, package)[0] == 0
    found = np.load(y)["output_0"]
    assert abs(found.sum() - 1) < 1e-5
    if mode != "random":
        x: Array = np.full((1, 3, 8, 8), mode == "ones", np.float32)
        np.testing.assert_allclose(found, by_onnxruntime(case[0], x), rtol=1e-5)


def test_the_line_of_the_notes_gives_a_library_for_the_board(case: tuple[Path, Array, Array], tmp_path: Path) -> None:
    """`tvmc compile ./mobilenet.tflite --target "$TARGET" -o tvmc.tar --cross-compiler "$CC" ...`, and on the board."""
    path, x, expected = case
    target = "bnns, llvm -device=arm_cpu -mtriple=aarch64-linux-gnu -num-cores=2"
    out = tmp_path / "tvmc.tar"
    options = ("--cross-compiler", "aarch64-linux-gnu-gcc", "--cross-compiler-options=-O2")
    status, _, err = command("compile", path, "--target", target, "-o", out, *options)
    first, second = err.splitlines()
    assert status == 0
    assert first == "warning: no compiler is called: --cross-compiler aarch64-linux-gnu-gcc changes nothing"
    assert second.startswith("warning: bnns: there is a table of what it takes, and nothing that makes code")
    status, _, err = command("run", out)
    assert status == 1 and "mod.so: code for aarch64 cannot run here" in err and len(err.splitlines()) == 1
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if compiler is None or emulator is None:
        pytest.skip("there is no aarch64-linux-gnu-gcc, or no qemu-aarch64")
    with tarfile.open(out) as archive:
        archive.extract("mod.so", tmp_path)
    source, program = ROOT / "examples" / "deploy" / "c" / "run_net.c", tmp_path / "run_net"
    header = ROOT / "lamina" / "runtime" / "include"
    words = [compiler, "-std=c11", "-D_GNU_SOURCE", "-O1", "-I", str(header), str(source), "-o", str(program), "-ldl"]
    subprocess.run(words, check=True)
    x.tofile(tmp_path / "x.raw")
    words = [emulator, "-L", "/usr/aarch64-linux-gnu", str(program), "./mod.so", "default", "2", "1", "x.raw", "y.raw"]
    subprocess.run(words, check=True, cwd=tmp_path, capture_output=True)
    np.testing.assert_allclose(np.fromfile(tmp_path / "y.raw", np.float32)[None], expected, rtol=1e-4, atol=1e-6)


def test_texts_are_written_beside_a_package(case: tuple[Path, Array, Array], tmp_path: Path) -> None:
    out = tmp_path / "m.tar"
    assert command("compile", case[0], "--target", "llvm", "-o", out, "--dump-code", "relay,tir,ll,asm")[0] == 0
    texts = {level: (tmp_path / f"m.tar.{level}").read_text() for level in ("relay", "tir", "ll", "asm")}
    assert "qnn.conv2d" in texts["relay"] and tvm.parser.fromtext(texts["relay"])["main"] is not None
    assert "tir.for" in texts["tir"] and "define" in texts["ll"] and ".text" in texts["asm"]


@pytest.mark.parametrize(
    "options",
    [
        ("-O", "0"),
        ("--desired-layout", "NHWC"),
        ("--disabled-pass", "FuseOps,FoldConstant"),
        ("--pass-config", "relay.FuseOps.max_depth=2"),
        ("--input-shapes", "x:[1,3,8,8]", "--model-format", "onnx"),
        ("--module-name", "mine", "-v"),
    ],
    ids=" ".join,
)
def test_options_that_change_the_program_keep_its_results(
    case: tuple[Path, Array, Array], tmp_path: Path, options: tuple[str, ...]
) -> None:
    path, x, expected = case
    status, _, err = command("compile", path, "--target", '{"kind": "llvm"}', "-o", tmp_path / "m.tar", *options)
    assert (status, err) == (0, "")
    result = tvmc.run(tvmc.TVMCPackage(tmp_path / "m.tar"), "cpu", inputs={"x": x}, repeat=1, number=1)
    np.testing.assert_allclose(result.get_output("output_0"), expected, rtol=1e-4, atol=1e-6)


def test_a_target_is_a_file_of_json_too(case: tuple[Path, Array, Array], tmp_path: Path) -> None:
    (tmp_path / "board.json").write_text('{"kind": "llvm", "mtriple": "riscv64-linux-gnu", "num-cores": 1}')
    out = tmp_path / "m.tar"
    assert command("compile", case[0], "--target", tmp_path / "board.json", "-o", out) == (0, "", "")
    status, _, err = command("run", out)
    assert status == 1 and "code for riscv64 cannot run here" in err


def test_a_script_of_pytorchs_takes_the_names_that_shapes_give(tmp_path: Path) -> None:
    path, out = Path(__file__).parent / "inputs" / "torchscript" / "frozen.pt", tmp_path / "m.tar"
    assert command("compile", path, "--target", "llvm", "--input-shapes", "image:[1,3,32,32]", "-o", out)[0] == 0
    image: Array = np.random.default_rng(0).standard_normal((1, 3, 32, 32)).astype(np.float32)
    given = {"image": image}
    found = tvmc.run(tvmc.TVMCPackage(out), inputs=given, repeat=1, number=1).get_output("output_0")
    model = lamina.compile(path, shapes={"x": [1, 3, 32, 32]}, opt_level=0)
    np.testing.assert_allclose(found, model(image), rtol=1e-3, atol=1e-5)


@needs_openblas
def test_parts_of_external_compilers_are_packed_for_python(tmp_path: Path) -> None:
    x, w = relay.var("x", shape=(4, 8)), relay.var("w", shape=(6, 8))
    mod = tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.relu(relay.nn.dense(x, w))))
    weight = np.linspace(-1, 1, 48, dtype=np.float32).reshape(6, 8)
    path = tmp_path / "m.tar"
    package = tvmc.compile(tvmc.TVMCModel(mod, {"w": weight}), "openblas, llvm", package_path=path)
    assert package.lib_name == "mod.tar"
    given = np.linspace(-1, 2, 32, dtype=np.float32).reshape(4, 8)
    result = tvmc.run(package, inputs={"x": given}, repeat=1, number=1)
    np.testing.assert_allclose(result.outputs["output_0"], np.maximum(given @ weight.T, 0), rtol=1e-4, atol=1e-6)
    told = subprocess.run(
        [sys.executable, "-m", "lamina.compat.tvm.driver.tvmc", "run", "--profile", str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "tvmgen_default_openblas_main_0" in told.stdout


def test_models_that_a_package_does_not_hold(tmp_path: Path) -> None:
    info, node = helper.make_tensor_value_info, helper.make_node
    for name, op, extent in (("open", "Relu", "N"), ("decided", "NonZero", 3)):
        ports = info("x", TensorProto.FLOAT, [extent, 4]), info("y", TensorProto.INT64, None)
        graph = helper.make_graph([node(op, ["x"], ["y"])], "g", [ports[0]], [ports[1]])
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        (tmp_path / f"{name}.onnx").write_bytes(made.SerializeToString())
    out = tmp_path / "m.tar"
    status, _, err = command("compile", tmp_path / "open.onnx", "--target", "llvm", "-o", out)
    assert status == 2 and 'the dimension "N" has no fixed size; give its shape: --input-shapes' in err
    for more in ((), ("-f", "mlf")):
        status, _, err = command("compile", tmp_path / "decided.onnx", "--target", "llvm", "-o", out, *more)
        assert status == 3 and "m.tar: the model has no kernels in a fixed order of known extents" in err
    assert not out.exists()


# -- from Python -----------------------------------------------------------------------------------------------


def test_the_functions_of_python(case: tuple[Path, Array, Array], tmp_path: Path) -> None:
    path, x, expected = case
    model = tvmc.load(str(path))
    package = tvmc.compile(model, target="llvm")
    result = tvmc.run(package, device="cpu", inputs={"x": x}, repeat=2, number=3)
    np.testing.assert_allclose(result.outputs["output_0"], expected, rtol=1e-5)
    assert len(result.times) == 2 and "Output Names:\n ['output_0']" in str(result)
    assert package.type == "classic" and package.lib_name == "mod.so" and Path(package.lib_path or "").is_file()
    assert relay.load_param_dict(package.params) == {}
    said = io.StringIO()
    model.summary(said)
    assert "qnn.conv2d" in said.getvalue()
    model.save(tmp_path / "model.tar")
    again = tvmc.TVMCModel(model_path=tmp_path / "model.tar")
    assert tvm.ir.structural_equal(again.mod, model.mod)
    kept = tvmc.TVMCPackage(again.default_package_path())
    np.testing.assert_array_equal(tvmc.run(kept, inputs={"x": x}).outputs["output_0"], result.outputs["output_0"])


def test_weights_that_a_module_takes_are_in_the_library(tmp_path: Path) -> None:
    weight = np.linspace(-1, 1, 48, dtype=np.float32).reshape(6, 8)
    x, w = relay.var("x", shape=(4, 8)), relay.var("w", shape=(6, 8))
    mod = tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.dense(relay.tanh(x), w)))
    model = tvmc.TVMCModel(mod, {"w": weight})
    model.save(tmp_path / "model.tar")
    model = tvmc.TVMCModel(model_path=tmp_path / "model.tar")
    given = np.linspace(-1, 2, 32, dtype=np.float32).reshape(4, 8)
    result = tvmc.run(tvmc.compile(model, "llvm"), inputs={"x": given})
    np.testing.assert_allclose(result.outputs["output_0"], np.tanh(given) @ weight.T, rtol=1e-4)


# -- tune ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [("--tuner", "random"), ("--enable-autoscheduler",)], ids=" ".join)
def test_records_of_a_search_are_compiled_with(tmp_path: Path, options: tuple[str, ...]) -> None:
    path, log, out = (tmp_path / name for name in ("dense.relay", "records.json", "m.tar"))
    x = relay.var("x", shape=(8, 32))
    weight = np.random.default_rng(0).standard_normal((16, 32)).astype(np.float32)
    dense = tvm.IRModule.from_expr(relay.Function([x], relay.nn.dense(x, relay.const(weight))))
    path.write_text(dense.astext())
    target = ("--target", "llvm -num-cores=1")
    trials = ("--trials", "1", "--parallel", "1", "--early-stopping", "1")
    status, _, err = command("tune", path, *target, "-o", log, *trials, *options)
    assert status == 0, err
    (line,) = log.read_text().splitlines()
    assert "lamina" in json.loads(line)
    # What is known is not measured again.
    status, _, err = command("tune", path, *target, "-o", log, *trials, *options, "--tuning-records", log)
    assert status == 0, err
    traces = [json.loads(line)["lamina"]["trace"] for line in log.read_text().splitlines()]
    assert len(traces) == len(set(traces)) <= 2
    assert command("compile", path, *target, "--tuning-records", log, "-o", out)[0] == 0
    given = np.random.default_rng(1).standard_normal((8, 32)).astype(np.float32)
    result = tvmc.run(tvmc.TVMCPackage(out), inputs={"x": given}, repeat=1, number=1)
    np.testing.assert_allclose(result.outputs["output_0"], given @ weight.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("x:[1,3,224,224]", {"x": [1, 3, 224, 224]}),
        ("x: [1, 3], y:[2] ", {"x": [1, 3], "y": [2]}),
        ("input_1:0:[1,2] gpu_0/data_0:[3]", {"input_1:0": [1, 2], "gpu_0/data_0": [3]}),
        ("'a b':[1] \"c\":[]", {"a b": [1], "c": []}),
    ],
)
def test_shapes_of_inputs(text: str, shapes: dict[str, list[int]]) -> None:
    assert main.parse_shapes(text) == shapes


@pytest.mark.parametrize(
    "text", ["", "x", "x[1]", "x:[1] y", "x:[a]", "x:[1,,2]", "x:[1 2]", "x:[1-2]", "x::[1]", ":[1]"]
)
def test_what_are_no_shapes(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is no list of shapes; as in"):
        main.parse_shapes(text)


# -- mistakes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["compile", "NET"], 2, "the following arguments are required: --target"),
        (["compile", "none.onnx", "--target", "llvm"], 1, "none.onnx: there is no such file"),
        (
            ["compile", "NET", "--target", "llvm", "--model-format", "paddle"],
            3,
            "models of paddle are not read; paddle2",
        ),
        (["compile", "NET", "--target", "lvm"], 2, "no target 'lvm'; did you mean 'llvm'?"),
        (["compile", "NET", "--target", "{"], 2, "a target is no JSON"),
        (["compile", "NET", "--target", "compute-library, llvm"], 2, "no target 'compute-library'"),
        (
            ["compile", "NET", "--target", "bnns -fast=1, llvm"],
            2,
            "the compiler bnns takes no options, here is '-fast=1'",
        ),
        (["compile", "NET", "--target", "llvm -mtriple=mips-linux-gnu"], 3, "no code is made for mips-linux-gnu"),
        (["compile", "NET", "--target", "llvm -mtriple=aarch64-linux-musl"], 3, "aarch64-linux-gnu, for the GNU"),
        (["compile", "NET", "--target", "llvm -mtriple=arm64-apple-macosx"], 3, "holds no library of macOS; -f mlf"),
        (["compile", "NET", "--target", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a5"], 2, "no cpu 'cortex-a5' of"),
        (["compile", "NET", "--target", "llvm -mtriple=aarch64-linux-gnu -mattr=-neon"], 3, "code for aarch64 needs"),
        (["compile", "NET", "--target", "llvm", "--dump-code", "src"], 2, "no text of the level 'src'"),
        (["compile", "NET", "--target", "llvm", "--pass-config", "a.b"], 2, "--pass-config 'a.b' gives no value"),
        (["compile", "NET", "--target", "llvm", "--disabled-pass", "FuseOp"], 2, "did you mean 'FuseOps'"),
        (["compile", "NET", "--target", "llvm", "--input-shapes", "x[1]"], 2, "is no list of shapes"),
        (
            ["compile", "NET", "--target", "llvm", "--tuning-records", "none.json"],
            1,
            "there is no such file of records",
        ),
        (["compile", "NET", "--target", "llvm", "-o", "no/m.tar"], 1, "no/m.tar: cannot write"),
        (["compile", "NET", "--target", "llvm", "--cross"], 2, "unrecognized arguments: --cross; did you mean"),
        (["run", "NET"], 1, "net.onnx: is no tar archive"),
        (["run", "TAR", "--rpc-tracker", "board:9090"], 3, "--rpc-tracker: programs run on this machine"),
        (["run", "TAR", "--device", "cuda"], 3, "packages run on the device 'cpu', not on 'cuda'"),
        (
            ["run", "TAR", "--profile"],
            3,
            "--profile: the library keeps no times of its kernels; `lamina profile MODEL`",
        ),
        (
            ["compile", "NET", "--target", "llvm", "--target-host", "llvm -mtriple=aarch64-linux-gnu"],
            3,
            "is called from",
        ),
        (["compile", "NET", "--target", "y.npz"], 1, "y.npz: cannot read a target: is no text"),
        (["run", "TAR", "-i", "Z"], 1, "input 'x' is float32, not <U1: could not convert string to float"),
        (["run", "TAR", "-i", "Y"], 1, "the program has no input 'y'; it has x"),
        (["run", "TAR", "--repeat", "0"], 2, "--repeat is at least 1, not 0"),
        (["run", "TAR", "--print-top", "0"], 2, "--print-top is at least 1, not 0"),
        (["tune", "NET", "--target", "llvm", "-o", "r.json", "--rpc-key", "pi"], 3, "--rpc-key: programs run on this"),
        (["tune", "NET", "--target", "llvm", "-o", "r.json", "--trials", "0"], 2, "--trials is at least 1, not 0"),
        (
            ["tune", "NET", "--target", "llvm", "-o", "r.json", "--warp-size", "32"],
            3,
            "--warp-size: figures of the pro",
        ),
        (["tune", "NET", "--target", "llvm -mtriple=aarch64-linux-gnu", "-o", "r.json"], 3, "does not run here"),
        (["micro", "create-project"], 3, "projects of microTVM are not written"),
        (["compil"], 2, "unknown command 'compil'; did you mean 'compile'?"),
    ],
    ids=lambda v: " ".join(map(str, v)) if isinstance(v, list) else "",  # pyright: ignore[reportUnknownArgumentType]
)
def test_a_mistake_is_one_line(
    case: tuple[Path, Array, Array], package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    words: list[str], status: int, said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    np.savez("y.npz", y=np.zeros(3))
    np.savez("z.npz", x=np.full((1, 3, 8, 8), "a"))
    places = {"NET": case[0], "TAR": package, "Y": "y.npz", "Z": "z.npz"}
    found, out, err = command(*(places.get(w, w) for w in words))
    assert (found, out) == (status, "") and err.startswith("error: ") and len(err.splitlines()) == 1
    assert said in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["y.npz", "z.npz"]  # nothing is half written


def test_what_is_no_package_is_refused(case: tuple[Path, Array, Array], package: Path, tmp_path: Path) -> None:
    def rewritten(change: Callable[[dict[str, bytes]], object]) -> Path:
        with tarfile.open(package) as archive:
            members = {m.name: archive.extractfile(m).read() for m in archive.getmembers()}  # type: ignore[union-attr]
        change(members)
        path = tmp_path / "changed.tar"
        with tarfile.open(path, "w") as archive:
            for name, data in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        return path

    with pytest.raises(InputError, match="changed.tar: holds no mod.so; `tvmc compile` writes packages"):
        tvmc.TVMCPackage(rewritten(lambda m: m.pop("mod.so")))
    with pytest.raises(InputError, match=r"holds no mod.json"):
        tvmc.TVMCPackage(rewritten(lambda m: m.pop("mod.json")))
    of_tvm = tvmc.TVMCPackage(rewritten(lambda m: m.update({"mod.so": b"\x7fELF\2\1\1" + bytes(900)})))
    with pytest.raises(InputError, match=r"changed.tar: mod.so: is no net that Lamina has exported"):
        tvmc.run(of_tvm)
    other = tvmc.TVMCPackage(rewritten(lambda m: m.update({"mod.json": m["mod.json"].replace(b"fused_", b"tvmgen_")})))
    with pytest.raises(
        UnsupportedError, match=r"calls 'tvmgen_\w+', which the library does not have; kernels are mach"
    ):
        tvmc.run(other)
    path = tmp_path / "cut.tar"
    path.write_bytes(package.read_bytes()[:5000])
    with pytest.raises(InputError, match=r"cut.tar: (is damaged|is no tar archive|holds no)"):
        tvmc.TVMCPackage(path)
    functions: Any = tvmc
    for wrong in (
        lambda: functions.run(package),
        lambda: functions.compile(case[0], "llvm"),
        lambda: functions.tune(case[0], "llvm"),
    ):
        with pytest.raises(UsageError, match=r"not a \w+Path; tvmc"):
            wrong()
    assert issubclass(tvmc.TVMCException, LaminaError)
