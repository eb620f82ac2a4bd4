"""opt-tool in-process: exit statuses, broken input, reproducers, round trips of pipelines."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lamina.errors import UsageError
from lamina.ir.pipeline import parse_pipeline, print_pipeline
from lamina.opt_tool.command import run_opt_tool

pytestmark = pytest.mark.slow

INPUTS = Path(__file__).parents[1] / "opt_tool" / "inputs"

ADD = """func.func @f(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  return %y : i32
}
"""
REORDERED = ADD.replace("return %y", "%z = arith.addi %y, %x : i32\n  return %z")
"""What the pass faulty-reorder leaves invalid."""


def tool(*argv: str, text: str = "") -> tuple[int, str, str]:
    status, out, err = run_opt_tool(argv, text)
    assert "Traceback" not in err
    return status, out, err


# -- exit statuses and streams -------------------------------------------------------------------------------


def test_clean_run_writes_nothing_to_stderr() -> None:
    status, out, err = tool("-p", "cse", text=ADD)
    assert (status, err) == (0, "")
    assert "arith.addi %x, %x : i32" in out


@pytest.mark.parametrize(
    ("argv", "text", "status", "message"),
    [
        ((), "arith.ad", 1, "<stdin>:1:1: error: unknown operation 'arith.ad'"),
        (("nowhere.mlir",), "", 1, "nowhere.mlir: error: cannot read: No such file or directory"),
        (("-p", "cs"), ADD, 2, "error: unknown pass 'cs'; did you mean 'cse'?"),
        (("-p", "cse,("), ADD, 2, "error: expected the name of a pass"),
        (("-p", "cse{"), ADD, 2, "error: expected an option or '}'"),
        (("--verify-each=2",), ADD, 2, "error: argument --verify-each"),
        (("--prin-op-generic",), ADD, 2, "error: unknown option '--prin-op-generic'; did you mean"),
        (("a.mlir", "b.mlir"), "", 2, "error: more than one input: 'a.mlir' and 'b.mlir'"),
        (("--load", str(INPUTS / "faulty.py"), "-p", "faulty-unsupported"), ADD, 3, "error: cannot do this yet"),
        (("--load", "nowhere.py"), ADD, 2, "error: no such file: nowhere.py"),
        (("--run-reproducer",), ADD, 1, "<stdin>: error: not a reproducer"),
        (("--run", "@g"), ADD, 2, "error: no function @g in the module"),
    ],
)
def test_each_mistake_has_its_status_and_one_message(
    argv: tuple[str, ...], text: str, status: int, message: str
) -> None:
    found, out, err = tool(*argv, text=text)
    assert found == status
    assert message in err
    assert out == ""


def test_debug_shows_the_traceback() -> None:
    status, _, err = run_opt_tool(["--debug"], "arith.ad")
    assert status == 1 and "Traceback" in err


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    status, _, err = tool("-p", "cse", "--print-ir-tree-dir", str(tmp_path / "file"), text=ADD)
    assert status == 1 and "00_cse.mlir: error: cannot write: File exists" in err


def test_output_file_is_left_alone_after_an_error(tmp_path: Path) -> None:
    target = tmp_path / "out.mlir"
    target.write_text("before")
    assert tool("-o", str(target), text="arith.ad")[0] == 1
    assert target.read_text() == "before"
    assert tool("-o", str(target), text=ADD)[0] == 0
    assert "arith.addi" in target.read_text()


def test_runs_are_independent() -> None:
    first = tool("--print-debuginfo", text=ADD)
    tool("--allow-unregistered-dialect", "--load", str(INPUTS / "doubler.py"), text='"a.b"() : () -> ()')
    assert tool(text='"a.b"() : () -> ()')[0] == 1
    assert tool(text="%0 = double.twice %1 : i32 -> i32")[0] == 1
    assert tool("--print-debuginfo", text=ADD) == first


# -- input that is not IR ------------------------------------------------------------------------------------


def read_file(tmp_path: Path, data: bytes) -> tuple[int, str]:
    path = tmp_path / "f.mlir"
    path.write_bytes(data)
    status, _, err = tool(str(path))
    return status, err.replace(str(path), "f.mlir")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"// some text \xff\n", "f.mlir:1:14: error: byte 0xff is not UTF-8"),
        (b"//\n\xc3\xa9 \xc3", "f.mlir:2:3: error: byte 0xc3 is not UTF-8"),
        (b"// \0", "f.mlir:1:4: error: byte 0x00 in the text"),
        (b"\x7fELF\x02\x01\x01", "f.mlir:1:1: error: unexpected character"),
        (b"}", "f.mlir:1:1: error: expected an operation, found '}'"),
        (b'"abc', "f.mlir:1:1: error: end of file reached before closing string literal"),
        (b'"' + b"abc " * 100, "f.mlir:1:1: error: end of file reached before closing string literal"),
        (b"@", "f.mlir:1:1: error:"),
        (b"func.func @f() {", "f.mlir:1:17: error:"),
        (b'"test.op"() {a = ' + b"9" * 10_000 + b"} : () -> ()", "f.mlir:1:18: error: number of 10000 characters"),
        (b'"test.op"() {a = ' + b"[" * 100_000, "error: nested too deeply"),
        (b'"test.op"() ({' * 300, "f.mlir:1:3585: error: ops are nested more than 256 deep"),
        (b'"test.op"() ({\n' * 100_000, "f.mlir:257:1: error: ops are nested more than 256 deep"),
        (b'%0 = "test.op"() : () -> ' + b"tuple<" * 100_000, "error: nested too deeply"),
        (
            b'"test.op"() ({^a:\n "test.op"()[^b] : () -> ()}) : () -> ()',
            "f.mlir:2:29: error: region ends with missing",
        ),
        (b'%0 = "test.op"() : () -> i0x', "f.mlir:1:26: error"),
        (b'%0:99999999999999999999 = "test.op"() : () -> i32', "f.mlir:1:1: error:"),
        (b"#a = #b\n#b = #a", "f.mlir:1:6: error: undefined alias '#b'"),
    ],
)
def test_broken_text_is_one_diagnostic(tmp_path: Path, data: bytes, message: str) -> None:
    status, err = read_file(tmp_path, data)
    assert message in err
    assert status == 1
    assert err.count("error:") == 1
    assert all(len(line) < 1000 for line in err.split("\n"))


@pytest.mark.parametrize("text", ["", "\n", "// only a comment", "\ufeff", "\ufeff// marked\n"])
def test_nothing_is_an_empty_module(text: str) -> None:
    assert tool(text=text) == (0, "builtin.module {\n}\n", "")


def test_long_line_is_cut_around_the_caret() -> None:
    text = '"test.op"() {a = "' + "x" * 1_000_000 + '", b = #c} : () -> ()'
    status, _, err = tool(text=text)
    assert status == 1
    line, shown, caret = err.split("\n")[:3]
    assert "undefined alias '#c'" in line
    assert len(shown) <= 160 and shown[caret.index("^") :].startswith("#c")


def test_nesting_up_to_the_limit_goes_through_everything() -> None:
    depth = 250
    text = '"test.op"() ({\n' * depth + '}) : () -> ()\n"test.termop"() : () -> ()\n' * (depth - 1) + "}) : () -> ()"
    status, out, err = tool("--verify-roundtrip", "-p", "canonicalize,cse", text=text)
    assert (status, err) == (0, "")
    assert out.count("test.op") == depth


# -- reproducers ---------------------------------------------------------------------------------------------


def test_an_exception_in_a_pass_writes_a_reproducer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_REPRODUCER_DIR", str(tmp_path))
    text = ADD.replace("return", "%z = arith.addi %x, %x : i32\n  return")
    load = ("--load", str(INPUTS / "faulty.py"))
    status, _, err = tool(*load, "-p", "cse,faulty-crash,canonicalize", text=text)
    assert status == 1  # the pass is the user's
    assert "faulty.py:24:9: error: IndexError: no such thing in pass 'faulty-crash'" in err
    (path,) = tmp_path.glob("lamina-reproducer-*.mlir")
    assert str(path) in err
    written = path.read_text()
    assert '"passes": "faulty-crash,canonicalize"' in written
    assert written.count("arith.addi") == 1  # the IR after cse, before the fault
    again, _, err = tool("--run-reproducer", str(path))
    assert again == 1 and "faulty-crash" in err


def test_reproducers_go_to_a_folder_that_git_ignores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAMINA_REPRODUCER_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    assert tool("--load", str(INPUTS / "faulty.py"), "-p", "faulty-reorder", text=REORDERED)[0] == 70
    (path,) = tmp_path.glob("lamina-reproducers/lamina-reproducer-*.mlir")
    status = subprocess.run(["git", "status", "--porcelain"], check=True, capture_output=True, text=True)
    assert status.stdout == ""
    makefile = (INPUTS.parents[2] / "Makefile").read_text()
    assert f"rm -rf build {path.parent.name}" in makefile


def test_invalid_ir_after_a_pass_is_an_internal_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_REPRODUCER_DIR", str(tmp_path))
    status, _, err = tool("--load", str(INPUTS / "faulty.py"), "-p", "faulty-reorder", text=REORDERED)
    assert status == 70
    assert "<stdin>:3:8: error: after pass 'faulty-reorder': arith.addi: operand #0 (%y) does not dominate" in err
    assert list(tmp_path.glob("*.mlir"))


def test_weights_are_found_beside_the_text(tmp_path: Path) -> None:
    import numpy as np

    from lamina.dialects.relay.params import ParamStore

    store = ParamStore()
    weight = store.add("w", np.arange(4, dtype=np.float32))
    store.save(tmp_path / "model.safetensors", [weight])
    text = f"""builtin.module attributes {{lamina.params = "model.safetensors"}} {{
  func.func @main() -> tensor<4xf32> {{
    %w = relay.constant {weight} : tensor<4xf32>
    %0 = relay.add %w, %w : tensor<4xf32>
    return %0 : tensor<4xf32>
  }}
}}
"""
    file = tmp_path / "model.mlir"
    file.write_text(text)
    status, out, err = tool(str(file), "--run", "@main")
    assert (status, err) == (0, "")
    assert "[0., 2., 4., 6.]" in out
    file.write_text(text.replace('"model.safetensors"', '"../model.safetensors"'))
    status, _, err = tool(str(file), "--run", "@main")
    assert status == 1 and "outside the folder" in err
    (tmp_path / "model.safetensors").unlink()
    file.write_text(text)
    assert tool(str(file), "-p", "cse")[0] == 0
    status, _, err = tool(str(file), "--run", "@main")
    assert status == 1 and "lamina.params" in err


# -- pipelines -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "cse",
        "cse,canonicalize",
        "func.func(cse,canonicalize),dce",
        'apply-pdl{pdl-file="a b.mlir"}',
        "func.func(scf.for(cse))",
        "convert-memref-to-riscv,convert-scf-to-openmp{nested=true}",
    ],
)
def test_pipeline_text_round_trips(text: str) -> None:
    passes = parse_pipeline(text)
    assert print_pipeline(passes) == text
    assert parse_pipeline(print_pipeline(passes)) == passes
    assert parse_pipeline(f"builtin.module({text})") == passes
    assert parse_pipeline(text.replace(",", " ,\n ")) == passes


@pytest.mark.parametrize(
    "text", ["cse(", "cse)", "(cse)", "cse{a", "cse,,cse", ",", "cse;cse", "a.b(cse,)", 'cse{a="}']
)
def test_bad_pipeline_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_pipeline(text)


# -- listing -------------------------------------------------------------------------------------------------


def test_list_ops_shows_facets() -> None:
    _, out, _ = tool("--list-ops")
    assert re.search(r"relay\.add +\[infer_type np_ref te_compute samples.*\] BROADCAST", out)
    assert "te.compute" in out
