"""Options of `lamina` under tvmc's names: they do what tvmc's do, and those that are not there are refused by name."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from lamina.cli import command as cli
from lamina.compat.tvm.driver.tvmc import autotuner, main
from lamina.measure.summaries import top_elements
from lamina.runtime.exported import read_net
from lamina.tuning.tuners import TUNERS, TVMS

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, np.dtype[Any]]


def command(*words: str | Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = cli.run([str(w) for w in words], out, err)
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Array, Array]:
    """The file of a convolution and a softmax, whose batch is open, an input, and what NumPy makes of it."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal((6, 3, 1, 1)).astype(np.float32)
    info = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], kernel_shape=[1, 1]),
        helper.make_node("ReduceMax", ["c"], ["m"], axes=[2, 3], keepdims=0),
        helper.make_node("Softmax", ["m"], ["y"], axis=1),
    ]
    ports = info("x", TensorProto.FLOAT, ["N", 3, 4, 5]), info("y", TensorProto.FLOAT, ["N", 6])
    graph = helper.make_graph(nodes, "g", [ports[0]], [ports[1]], [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path_factory.mktemp("tvmc") / "net.onnx"
    path.write_bytes(model.SerializeToString())
    x = rng.standard_normal((1, 3, 4, 5)).astype(np.float32)
    np.savez(path.with_name("x.npz"), x=x)
    return path, x, reference(x, w)


def reference(x: Array, w: Array) -> Array:
    largest = np.einsum("nchw,kc->nkhw", x, w[:, :, 0, 0]).max((2, 3))
    powers = np.exp(largest - largest.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


SHAPES = ("--input-shapes", "x:[1,3,4,5]")


@pytest.fixture(scope="module")
def library(case: tuple[Path, Array, Array]) -> Path:
    """The model as a library, with texts beside it."""
    path = case[0].with_name("net.so")
    options = ("--target", "llvm -num-cores=1", "--dump-code", "relay,ll", "--module-name", "mine", "-O", "2")
    status, out, err = command("compile", case[0], "-o", path, *SHAPES, *options)
    assert (status, out, err) == (0, "".join(f"{path}{end}\n" for end in ("", ".relay", ".ll")), "")
    return path


def test_a_library_is_compiled_and_run(case: tuple[Path, Array, Array], library: Path, tmp_path: Path) -> None:
    net = read_net(library)
    assert (net.name, net.target.threads, net.inputs[0].shape) == ("mine", 1, (1, 3, 4, 5))
    assert "relay.nn.conv2d" in Path(f"{library}.relay").read_text()
    assert "define" in Path(f"{library}.ll").read_text()
    y = tmp_path / "y.npz"
    options = ("--print-time", "--repeat", "2", "--number", "3", "--print-top", "2")
    status, out, err = command("run", library, "-i", case[0].with_name("x.npz"), "-o", y, *options)
    assert (status, err) == (0, "")
    np.testing.assert_allclose(np.load(y)["y"], case[2], rtol=1e-5)
    assert "Execution time summary:\n  mean (ms)    median (ms)     max (ms)" in out
    found = [[float(n) for n in row.strip(" []").split()] for row in out.splitlines()[-2:]]
    order = np.argsort(-case[2][0])[:2]
    assert found[0] == [float(n) for n in order]
    np.testing.assert_allclose(found[1], case[2][0][order], rtol=1e-5)


def test_the_names_of_an_option_are_one(case: tuple[Path, Array, Array], library: Path, tmp_path: Path) -> None:
    x, files = case[0].with_name("x.npz"), [tmp_path / f"{n}.npz" for n in range(3)]
    for file, (given, written) in zip(
        files, [("--input", "--output"), ("--inputs", "--outputs"), ("-i", "-o")], strict=True
    ):
        assert command("run", library, given, x, written, file)[0] == 0
    assert len({file.read_bytes() for file in files}) == 1


@pytest.mark.parametrize("mode", ["zeros", "ones", "random"])
def test_inputs_that_are_not_given_are_filled(
    case: tuple[Path, Array, Array], library: Path, mode: str, tmp_path: Path
) -> None:
    y = tmp_path / "y.npz"
    status, _, err = command("run", library, "--fill-mode", mode, "-o", y)
    assert status == 0
    assert err == f"note: {'random values' if mode == 'random' else mode} for x (give --input X.npz for others)\n"
    found = np.load(y)["y"]
    np.testing.assert_allclose(found.sum(), 1, rtol=1e-5)
    if mode != "random":
        np.savez(tmp_path / "x.npz", x=np.full_like(case[1], mode == "ones"))
        assert command("run", library, "-i", tmp_path / "x.npz", "-o", tmp_path / "z.npz")[0] == 0
        np.testing.assert_array_equal(found, np.load(tmp_path / "z.npz")["y"])


def test_a_target_string_is_the_machine(case: tuple[Path, Array, Array], tmp_path: Path) -> None:
    (tmp_path / "board.json").write_text('{"kind": "llvm", "mtriple": "aarch64-linux-gnu", "num-cores": 2}')
    targets = ("aarch64", "llvm -device=arm_cpu -mtriple=aarch64-linux-gnu -keys=arm_cpu", tmp_path / "board.json")
    made: list[bytes] = []
    for n, target in enumerate(targets):
        threads = () if n == 2 else ("--threads", "2")
        path = tmp_path / f"{n}" / "net.so"
        path.parent.mkdir()
        assert command("compile", case[0], *SHAPES, "--target", target, *threads, "-o", path)[0] == 0
        made.append(path.read_bytes())
    assert made[0] == made[1] == made[2]


def test_a_layout_is_asked_for(case: tuple[Path, Array, Array], tmp_path: Path) -> None:
    options = (*SHAPES, "--desired-layout", "NHWC")
    status, out, _ = command("compile", case[0], *options, "--emit", "relay")
    assert status == 0 and 'data_layout = "NHWC"' in out and "relay.layout_transform" in out
    assert command("run", case[0], *options, "-i", case[0].with_name("x.npz"), "-o", tmp_path / "y.npz")[0] == 0
    np.testing.assert_allclose(np.load(tmp_path / "y.npz")["y"], case[2], rtol=1e-5)


def test_passes_are_named_with_commas(case: tuple[Path, Array, Array]) -> None:
    printed = [
        command("compile", "--print-pipeline", *options)[1]
        for options in (
            (),
            ("--disabled-pass", "FoldConstant,SimplifyExpr"),
            ("--disabled-pass", "FoldConstant", "--disabled-pass", "SimplifyExpr"),
        )
    ]
    assert printed[0] != printed[1] == printed[2]
    assert "relay-fold-constant" in printed[0] and "relay-fold-constant" not in printed[1]


@pytest.mark.parametrize("shape", [(6,), (1, 6), (1, 6, 1, 1), (2, 2, 3), ()])
def test_the_largest_are_of_the_first_in_a_batch(shape: tuple[int, ...]) -> None:
    values = np.array([3, 9, 1, 9, 4, 2, 99, 99, 99, 99, 99, 99], np.float32)[: int(np.prod(shape))].reshape(shape)
    expected = [[1, 3, 4], [9, 9, 4]] if shape else [[0], [3]]
    np.testing.assert_array_equal(top_elements(values, 3), expected)


def test_tuners_have_tvmcs_names_too() -> None:
    assert TVMS.keys() == autotuner.TUNERS.keys() and set(TVMS.values()) <= TUNERS.keys()


def test_a_search_by_a_tuner_of_tvmcs(tmp_path: Path) -> None:
    text = """func.func @main(%x: tensor<8x32xf32>, %w: tensor<16x32xf32>) -> tensor<8x16xf32> {
  %d = relay.nn.dense %x, %w : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}
"""
    (tmp_path / "m.mlir").write_text(text)
    records = tmp_path / "r.jsonl"
    options = ("--tuner", "ga", "--trials", "1", "--target", "llvm -num-cores=1")
    status, _, err = command("tune", tmp_path / "m.mlir", "-o", records, *options)
    assert status == 0, err
    assert len(records.read_text().splitlines()) >= 1


RPC = "programs run on this machine, not through RPC; copy the program to the device, and run it there"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["compile", "NET", "--cross-compiler", "aarch64-linux-gnu-gcc"], 3, "--cross-compiler: no compiler is called"),
        (["compile", "NET", "--cross-compiler-options", "-O2 -g"], 3, "--cross-compiler-options: no compiler is"),
        (["compile", "NET", "--cross-compiler-options=-O2"], 3, "--cross-compiler-options: no compiler is called"),
        (["compile", "NET", "-f", "mlf", "-o", "m.tar"], 3, "-f: the ending of -o says the format"),
        (["compile", "NET", "--output-format", "so"], 3, "--output-format: the ending of -o says the format"),
        (["compile", "NET", "--model-format", "onnx"], 3, "--model-format: the file says its format"),
        (["compile", "NET", "--target-host", "llvm"], 3, "--target-host: programs are called from the machine of"),
        (["compile", "NET", "--tuning-records", "r.json"], 3, "--tuning-records: schedules come from records"),
        (["compile", "NET", "--dump-code", "ll"], 2, "--dump-code writes texts beside a program, and -o names none"),
        (["compile", "NET", "--dump-code", "src", "-o", "net.so"], 2, "no text of the level 'src'"),
        (["compile", "NET", *SHAPES, "--dump-code", "tir,ll", "-o", "net.c"], 3, "has no text of the level ll"),
        (["compile", "NET", "--module-name", "n"], 2, "--module-name is of a library, and -o names none"),
        (["compile", "NET", *SHAPES, "--module-name", "a-b", "-o", "n.so"], 2, "the name of a net is one of C"),
        (["compile", "NET", "--desired-layout", "NCWH"], 2, "no layout 'NCWH'; there are NCHW, NHWC"),
        (["compile", "NET", "--input-shapes", "x[1]"], 2, "'x[1]' is no list of shapes; as in 'x:[1,3,224,224]"),
        (["compile", "NET", "--disabled-pass", "FoldConstant,FuseOp"], 2, "unknown pass 'FuseOp'; did you mean"),
        (["compile", "NET", *SHAPES, "--target", "llvm -mcp=haswell"], 2, "target 'llvm' has no option 'mcp'"),
        (["compile", "NET", *SHAPES, "--target", "llvm -num-cores=2", "--threads", "1"], 2, "1 threads are asked"),
        (["compile", "NET", *SHAPES, "--target", "board.json"], 1, "board.json: there is no such file"),
        (["run", "NET", "--device", "cuda"], 3, "--device: programs run on the processor, as their target says"),
        (["run", "NET", "--rpc-tracker", "board:9090"], 3, f"--rpc-tracker: {RPC}"),
        (["run", "NET", "--rpc-key", "pi"], 3, f"--rpc-key: {RPC}"),
        (["run", "LIB", "--fill-mode", "one"], 2, "no fill mode 'one'; did you mean 'ones'?"),
        (["run", "LIB", "--repeat", "3"], 2, "--repeat is of --print-time; give both, or neither"),
        (["run", "LIB", "--print-time", "--number", "0"], 2, "--number is at least 1, not 0"),
        (["run", "LIB", "--print-top", "0"], 2, "--print-top is at least 1, not 0"),
        (["run", "LIB", "--print-top"], 2, "argument --print-top: expected one argument"),
        (["run", "LIB", *SHAPES], 2, "--input-shapes is for models; "),
        (["run", "LIB", "--desired-layout", "NHWC"], 2, "--desired-layout is for models; "),
        (["tune", "NET", *SHAPES, "-o", "r.jsonl", "--tuner", "xgp"], 2, "no tuner is called 'xgp'; did you mean"),
        (["tune", "NET", "-o", "r.jsonl", "--min-repeat-ms", "9"], 3, "--min-repeat-ms: a search measures as often"),
        (["tune", "NET", "-o", "r.jsonl", "--enable-autoscheduler"], 3, "--enable-autoscheduler: a search takes"),
        (["tune", "NET", "-o", "r.jsonl", "--num-cores", "4"], 3, "--num-cores: figures of the processor are"),
        (["tune", "NET", "-o", "r.jsonl", "--rpc-key", "pi"], 3, f"--rpc-key: {RPC}"),
    ],
    ids=lambda v: " ".join(map(str, v)) if isinstance(v, list) else "",  # pyright: ignore[reportUnknownArgumentType]
)
def test_a_mistake_is_one_line(
    case: tuple[Path, Array, Array], library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    words: list[str], status: int, said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    places = {"NET": case[0], "LIB": library}
    found, out, err = command(*(places.get(w, w) for w in words))
    last = err.splitlines()[-1]
    assert (found, out) == (status, "") and last.startswith("error: ") and said in last
    assert all(line.startswith(("error: ", "note: ")) for line in err.splitlines())
    assert not list(tmp_path.iterdir())  # nothing is half written


def test_both_commands_refuse_the_same_way(case: tuple[Path, Array, Array]) -> None:
    out, err = io.StringIO(), io.StringIO()
    words = ["tune", str(case[0]), "--target", "llvm", "-o", "r.json", "--rpc-key", "pi"]
    assert main.run(words, out, err) == 3
    assert err.getvalue() == command("run", case[0], "--rpc-key", "pi")[2]
