"""The same lit files pass in-process and with lit's own shell; which RUN lines run where."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from lamina_format import Command, parse_line  # noqa: E402

pytestmark = pytest.mark.slow

FILES = (
    "split_goes_on_after_an_error.mlir",
    "nested_anchor.mlir",
    "print_ir.mlir",
    "roundtrip.mlir",
    "load_file.mlir",
)


@pytest.mark.parametrize("shell", ["0", "1"])
def test_lit_files_pass_both_ways(shell: str, tmp_path: Path) -> None:
    lit = [str(Path(sys.executable).parent / "lit"), "-q", "-j2"]
    param = [f"--param=lamina_shell={shell}"] if shell == "1" else []
    files = [str(ROOT / "test" / "opt_tool" / f) for f in FILES]
    done = subprocess.run([*lit, *param, *files], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wrong_check_fails_both_ways(tmp_path: Path) -> None:
    """A format that let failures through would be worse than none."""
    bad = {
        "text.mlir": "// RUN: opt-tool %s | filecheck %s\n// CHECK: not there\n",
        "status.mlir": "// RUN: opt-tool %s --no-such-option 2>&1 | filecheck %s\n// CHECK: error\n",
        "negated.mlir": "// RUN: not opt-tool %s | filecheck %s\n// CHECK: builtin.module\n",
        "first_of_two.mlir": "// RUN: opt-tool %s -p no-such-pass | opt-tool\n",
        "second_of_two.mlir": "// RUN: opt-tool %s | opt-tool -p no-such-pass\n",
        "no_run.mlir": "// CHECK: builtin.module\n",
    }
    config = (ROOT / "test" / "lit.cfg.py").read_text()
    (tmp_path / "lit.cfg.py").write_text(
        config.replace("os.path.dirname(__file__)", repr(str(ROOT / "test")), 1)
        + f"\nconfig.test_source_root = {str(tmp_path)!r}\nconfig.test_exec_root = {str(tmp_path / 'out')!r}\n"
    )
    for name, text in bad.items():
        (tmp_path / name).write_text(text)
    for param in ([], ["--param=lamina_shell=1"]):
        lit = [str(Path(sys.executable).parent / "lit"), "-q", *param, str(tmp_path)]
        done = subprocess.run(lit, capture_output=True, text=True, check=False)
        for name in bad:
            assert f":: {name}" in done.stdout, (param, name, done.stdout)


def test_which_lines_need_a_shell() -> None:
    assert parse_line("opt-tool a.mlir -p 'x{a=1},y(z)' | filecheck a.mlir") == [
        Command(False, [["a.mlir", "-p", "x{a=1},y(z)"]], False, ["a.mlir"])
    ]
    assert parse_line("not opt-tool a 2>&1 | filecheck a") == [Command(True, [["a"]], True, ["a"])]
    assert parse_line("opt-tool a | opt-tool -p b 2>&1 | filecheck a") == [
        Command(False, [["a"], ["-p", "b"]], True, ["a"])
    ]
    assert parse_line("opt-tool a -o b && opt-tool b | filecheck a") == [
        Command(False, [["a", "-o", "b"]], False, None),
        Command(False, [["b"]], False, ["a"]),
    ]
    for line in (
        "opt-tool a > b",
        "opt-tool < a",
        "not opt-tool a | opt-tool | filecheck a",
        "opt-tool a 2>&1 | opt-tool | filecheck a",
        "opt-tool a | filecheck a | opt-tool",
        "cat a",
        "opt-tool a; opt-tool b",
        "opt-tool *.mlir",
        "opt-tool a | grep b",
        "FOO=1 opt-tool a",
        "opt-tool a -p x(y)",
    ):
        assert parse_line(line) is None, line
