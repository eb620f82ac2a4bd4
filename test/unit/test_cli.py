"""The command line: what it prints, its errors in one line, its exit status."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from lamina.cli import command as cli
from lamina.cli import commands
from lamina.opt_tool.command import run_opt_tool

pytestmark = pytest.mark.slow


def lamina(*argv: str | Path | int) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = cli.run([str(a) for a in argv], out, err)
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    port = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 5]) for n in ("x", "y", "z")]
    nodes = [
        helper.make_node("Add", ["x", "y"], ["s"], name="sum"),
        helper.make_node("Tanh", ["s"], ["z"], name="bend"),
    ]
    graph = helper.make_graph(nodes, "g", port[:2], port[2:])
    path = tmp_path_factory.mktemp("cli") / "two.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    )
    return path


@pytest.fixture(scope="module")
def unsupported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    port = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 5]) for n in ("x", "y")]
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], name="first", domain="com.example"),
        helper.make_node("Frobnicate", ["a"], ["b"], name="second", domain="com.example"),
        helper.make_node("Twiddle", ["b"], ["y"], name="third", domain="com.example"),
    ]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    path = tmp_path_factory.mktemp("cli") / "bad.onnx"
    path.write_bytes(
        helper.make_model(helper.make_graph(nodes, "g", port[:1], port[1:]), opset_imports=imports).SerializeToString()
    )
    return path


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cli-cache"))


def test_help_and_version() -> None:
    for argv in ([], ["--help"], ["help"]):
        status, out, err = lamina(*argv)
        assert status == 0 and not err
        for command in cli.COMMANDS:
            assert command in out
    assert lamina("--version")[1].startswith("lamina ")
    for command in cli.COMMANDS:
        status, out, _ = lamina(command, "--help")
        assert status == 0 and f"lamina {command}" in out


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (["comple", "m"], 2, "unknown command 'comple'; did you mean 'compile'?"),
        (["--fast"], 2, "unknown option '--fast'"),
        (["compile", "MODEL", "--opt-levle", "3"], 2, "did you mean '--opt-level'?"),
        (["compile", "MODEL", "--emit", "tri"], 2, "invalid choice: 'tri'"),
        (["compile", "MODEL", "--emit", "all"], 2, "--emit all needs a folder"),
        (["compile", "MODEL", "--opt-level", "7"], 2, "--opt-level is one of 0, 1, 2, 3"),
        (["compile", "MODEL", "--opt-level", "x"], 2, "invalid int value"),
        (["compile", "MODEL", "--threads", "0"], 2, "threads is a positive integer"),
        (["compile", "MODEL", "--target", "x86-64-v9"], 2, "unknown target"),
        (["compile", "MODEL", "--shape", "x=1,b"], 2, "--shape 'x=1,b' is not NAME=D,D,..."),
        (["compile", "MODEL", "--shape", "q=1,2"], 2, "which is no input"),
        (
            ["compile", "MODEL", "--max-tensor-bytes", "10"],
            1,
            "40 bytes, the limit is 10; lamina.load(..., max_tensor_byt",
        ),
        (["compile", "MODEL", "--max-tensor-bytes", "0"], 2, "--max-tensor-bytes must be positive"),
        (["compile"], 2, "no MODEL given"),
        (
            ["compile", "MODEL", "-o", "out.txt"],
            2,
            "-o out.txt names a file, and all texts are several; -o out.txt/ is",
        ),
        (["compile", "MODEL", "-o", ""], 2, "argument -o/--output: an empty path"),
        (["run", ""], 2, "argument MODEL: an empty path"),
        (["run", "MODEL", "--input", ""], 2, "argument --input/--inputs/-i: an empty path"),
        (["run"], 2, "MODEL"),
        (["compile", "nowhere.onnx"], 1, "nowhere.onnx: cannot read the model"),
        (["check", "nowhere.onnx"], 1, "nowhere.onnx: cannot read the model"),
        (["run", "MODEL", "--input", "x=@nowhere.npy"], 1, "nowhere.npy: cannot read"),
        (["run", "MODEL", "--input", "MODEL"], 1, "not an npy or npz file"),
        (["bench", "MODEL", "--seconds", "0"], 2, "--seconds must be positive"),
        (["bench", "MODEL", "--seconds", "nan"], 2, "--seconds must be positive"),
        (["bench", "MODEL", "--repeats", "0"], 2, "--repeats must be positive"),
        (["bench", "MODEL", "--repeats", "-1"], 2, "--repeats must be positive"),
    ],
)
def test_mistakes_end_in_one_line(model: Path, argv: list[str], status: int, words: str) -> None:
    found, out, err = lamina(*(str(model) if a == "MODEL" else a for a in argv))
    assert (found, out) == (status, ""), (found, out, err)
    assert err.startswith("error: ") and err.count("\n") == 1 and "Traceback" not in err
    assert words in err, err


def test_too_little_memory_is_said_in_one_line(tmp_path: Path) -> None:
    sides = [helper.make_tensor_value_info(n, TensorProto.DOUBLE, [1 << 22, 1 << 22]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "g", sides[:1], sides[1:])
    huge = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "huge.onnx").write_bytes(huge.SerializeToString())
    status, _, err = lamina("run", tmp_path / "huge.onnx", "--max-tensor-bytes", 1 << 50, "--no-cache")
    assert status == 1 and err.splitlines()[-1].startswith("error: not enough memory: Unable to allocate 128. TiB")


def test_a_file_name_that_is_not_utf_8(model: Path, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"net\xff.onnx")
    try:
        path.write_bytes(model.read_bytes())
    except OSError:
        pytest.skip("this file system knows no such names")
    for words in (["compile", path, "-o", tmp_path / "out"], ["run", path], ["check", path]):
        assert lamina(*words)[0] == 0
    text = (tmp_path / "out" / "relay.mlir").rename(tmp_path / "out" / os.fsdecode(b"net\xff.mlir"))
    assert lamina("run", text)[0] == 0 and "net\\\\udcff.onnx" in text.read_text()
    for words in ([path], [text, "-p", "relay-fold-constant", "--print-debuginfo"]):
        status, out, err = run_opt_tool([str(w) for w in words])
        assert status == 0 and not err and "relay.tanh" in out


def test_debug_adds_the_traceback() -> None:
    status, _, err = lamina("compile", "nowhere.onnx", "--debug")
    assert status == 1 and "Traceback" in err and err.splitlines()[-1].startswith("error: ")


def test_a_fault_is_status_70(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lamina.cli.commands import check

    monkeypatch.setattr(check, "run", None)
    status, _, err = lamina("check", model)
    assert status == 70 and err == (
        "error: internal error: TypeError: 'NoneType' object is not callable; run again with --debug and report it\n"
    )


def test_check_lists_everything_at_once(model: Path, unsupported: Path) -> None:
    assert lamina("check", model) == (0, "two.onnx: all 2 nodes are supported\n", "")
    status, out, err = lamina("check", unsupported)
    assert status == 3 and not err
    assert "com.example.Frobnicate" in out and "x2" in out and "com.example.Twiddle" in out
    for node in ("first", "second", "third"):
        assert node in out
    status, out, _ = lamina("check", unsupported, "--json")
    report = json.loads(out)
    assert status == 3 and not report["ok"]
    assert [(u["name"], u["count"]) for u in report["unsupported"]] == [
        ("com.example.Frobnicate", 2),
        ("com.example.Twiddle", 1),
    ]
    status, out, err = lamina("compile", unsupported)
    assert status == 3 and not out and err.count("\n") == 1


def test_graph_passes_are_chosen_by_options(model: Path) -> None:
    words = ["--opt-level", "4", "--disabled-pass", "FoldConstant", "--required-pass", "relay-fast-math"]
    status, out, _ = lamina("compile", "--print-pipeline", *words, "--pass-config", "relay.FuseOps.max_depth=7")
    assert status == 0 and "relay-fold-constant" not in out and "relay-fuse-ops{max-depth=7}" in out
    status, out, err = lamina("compile", model, "--disabled-pass", "AlterOpLayout", "--threads", "1", "--no-cache")
    assert status == 0 and "opt level 3" in out and not err
    for given, words in (
        (["--opt-level", "5"], "--opt-level is one of 0, 1, 2, 3, 4, not 5"),
        (["--disabled-pass", "FoldConstnt"], "unknown pass 'FoldConstnt'; did you mean 'FoldConstant'"),
        (["--required-pass", "DivToMul"], "none of the passes that compile a model"),
        (["--pass-config", "relay.FuseOps.max_depth"], "gives no value; as in relay.FuseOps.max_depth=10"),
        (["--pass-config", "relay.FuseOps.max_depth=deep"], "option 'max-depth' of pass 'relay-fuse-ops' takes int"),
    ):
        status, out, err = lamina("compile", "--print-pipeline", *given)
        assert status == 2 and not out and words in err and err.count("\n") == 1, err


def test_pipeline_and_texts(model: Path, tmp_path: Path) -> None:
    from lamina.driver.pipelines import pipeline_text

    assert lamina("compile", model, "--print-pipeline") == (0, pipeline_text(3) + "\n", "")
    assert lamina("compile", "--print-pipeline", "--opt-level", "0")[1] == pipeline_text(0) + "\n"
    status, out, err = lamina("compile", model, "--emit", "te", "--threads", "1")
    assert status == 0 and not err and "te.compute" in out
    status, listed, _ = lamina("compile", model, "-o", tmp_path, "--threads", "1")
    assert status == 0 and [Path(p).name for p in listed.split()][:2] == ["relay.mlir", "te.mlir"]
    assert (tmp_path / "te.mlir").read_text() == out
    # The machine of the text may be another one than this.
    status, out, _ = lamina("compile", model, "--emit", "asm", "--target", "x86-64-v4", "-o", tmp_path / "v4")
    assert status == 0 and out == f"{tmp_path / 'v4' / 'kernels.s'}\n"


def test_one_text_goes_into_a_file_and_all_into_a_folder(model: Path, tmp_path: Path) -> None:
    """A suffix makes a file, unless the folder exists or a slash says what is meant."""
    tir = lamina("compile", model, "--emit", "tir", "-o", tmp_path / "out" / "k.tir")
    assert tir == (0, f"{tmp_path}/out/k.tir\n", "") and "tir.func" in (tmp_path / "out" / "k.tir").read_text()
    for _ in range(2):
        status, out, _ = lamina("compile", model, "-o", f"{tmp_path}/net-1.0/")
        assert status == 0 and f"{tmp_path}/net-1.0/relay.mlir\n" in out
    assert lamina("compile", model, "-o", tmp_path / "net-1.0")[0] == 0
    assert lamina("compile", model, "-o", tmp_path / "out.txt")[0] == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["net-1.0", "out"]


def test_run_takes_and_gives_files(model: Path, tmp_path: Path) -> None:
    x = np.arange(10, dtype=np.float32).reshape(2, 5) / 10
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "both.npz", x=x, y=x)
    status, out, err = lamina("run", model, "--input", tmp_path / "both.npz", "--output", tmp_path / "z.npz")
    assert status == 0 and not err and out.startswith("z: float32[2, 5] [")
    with np.load(tmp_path / "z.npz") as stored:
        np.testing.assert_allclose(stored["z"], np.tanh(x + x), rtol=1e-5)
    status, _, err = lamina("run", model, "--input", f"x=@{tmp_path / 'x.npy'}", "--profile")
    assert status == 0 and err == "note: random values for y (give --input X.npz for others)\n"
    status, _, err = lamina("run", model, "--input", tmp_path / "x.npy")
    assert status == 2 and "which input" in err


def test_a_file_that_names_its_arrays_is_given_without_a_name(model: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "both.npz", x=np.ones((2, 5), np.float32), y=np.ones((2, 5), np.float32))
    status, _, err = lamina("run", model, "--input", f"x=@{tmp_path}/both.npz")
    assert status == 2 and "both.npz names its arrays: x, y; give --input" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full, a disk that is full")
@pytest.mark.parametrize(
    "words", [("run", "--output"), ("profile", "--trace"), ("bench", "--seconds", "0.1", "--roofline", "--output")]
)
def test_a_full_disk_is_said_of_the_file(model: Path, words: tuple[str, ...]) -> None:
    status, _, err = lamina(words[0], model, *words[1:], "/dev/full")
    assert status == 1 and "error: /dev/full: cannot write: No space left on device" in err


def test_a_program_replaces_files_alone(model: Path, tmp_path: Path) -> None:
    (tmp_path / "net.lamina").mkdir()
    status, _, err = lamina("compile", model, "-o", tmp_path / "net.lamina")
    assert status == 1 and "net.lamina: cannot write: this is no file" in err


def test_bench_compares_with_onnxruntime(model: Path) -> None:
    status, out, _ = lamina("bench", model, "--repeats", "3", "--json")
    found = json.loads(out)
    assert status == 0 and found["difference"] < 1e-5 and found["threads"] == 1
    assert found["lamina"]["runs"] == found["onnxruntime"]["runs"] == 3
    status, out, _ = lamina("bench", model, "--repeats", "3")
    assert status == 0 and "ratio" in out and "onnxruntime" in out


def test_in_a_pipe_it_is_quiet(model: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lamina.cli", "compile", str(model), "--threads", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and not done.stderr
    assert done.stdout.startswith("lamina.Executable (x: float32[2, 5], y: float32[2, 5]) -> (z: float32[2, 5])")


def test_a_closed_pipe_is_no_error(model: Path) -> None:
    script = f"{sys.executable} -m lamina.cli compile {model} --emit llvm | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, check=False)
    assert not done.stderr


def test_the_help_loads_nothing_heavy_and_no_other_command() -> None:
    code = (
        "import sys, io; from lamina.cli.command import run; run(['compile', '--help'], io.StringIO(), io.StringIO()); "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "onnx", "llvmlite", "rich", "xdsl"}
    assert [m for m in loaded if m.startswith("lamina.cli.commands.")] == ["lamina.cli.commands.compile"]


def test_each_command_has_a_file_and_a_line_of_help() -> None:
    files = {path.stem.replace("_", "-") for path in Path(commands.__file__).parent.glob("[a-z]*.py")}
    assert files == set(cli.COMMANDS)
    for command, text in cli.COMMANDS.items():
        status, out, err = lamina(command, "--help")
        assert (status, err) == (0, "") and out.startswith(f"usage: lamina {command} ")
        assert text in " ".join(out.split())
