"""The tour's lists of the files that a compilation goes through."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tools import walk

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def test_list_of_files_is_up_to_date() -> None:
    """In a process of its own: what has been compiled before is not compiled again."""
    words = [sys.executable, "-m", "tools.walk", "--check"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_way_is_short_enough_to_be_read() -> None:
    way = walk.PAGE.read_text("utf-8").split("**The way**")[1].split("**On the way**")[0]
    files = re.findall(r"^\| \d+ \| `(.+?)`", way, re.MULTILINE)
    assert files[0] == "lamina/driver/api.py"
    assert {"backends/llvm/emit.py", "backends/cpu/jit.py"} <= set(files)
    assert len(files) <= 14, files


def test_only_callers_of_an_end_are_on_the_way(tmp_path: Path) -> None:
    sources = {
        "caller": "def go(a, b):\n    a()\n    b()\n",
        "asked": "def ask(): pass\n",
        "ending": "def end(): pass\n",
        "passes/applied": "def apply(): pass\n",
        "elsewhere/applied": "def apply(): pass\n",
    }
    functions: dict[str, Any] = {}
    for name, source in sources.items():
        path = tmp_path / f"{name}.py"
        space: dict[str, Any] = {}
        exec(compile(source, str(path), "exec"), space)
        functions[name] = space[re.findall(r"def (\w+)", source)[0]]

    def on_the_way(*called: str) -> set[str]:
        seen = walk.Walk({functions["ending"].__code__})
        with seen.watching():
            functions["caller"](*(functions[name] for name in called))
        return {Path(f).relative_to(tmp_path).as_posix() for f in seen.on_the_way if f.startswith(str(tmp_path))}

    assert on_the_way("asked", "ending") == {"caller.py", "ending.py"}
    assert on_the_way("asked", "passes/applied") == {"caller.py", "passes/applied.py"}
    assert not on_the_way("asked", "elsewhere/applied")


def test_a_relu_enters_no_file_of_what_it_is_not() -> None:
    files = {line.split("`")[1] for line in walk.PAGE.read_text().splitlines() if line.startswith("| ") and "`" in line}
    operators = "conv|depthwise|pooling|winograd|attention|reduction|recurrent|qnn|quanti"
    others = f"{operators}|lamina/vm/|nvptx|opencl|byoc|partition"
    assert not [file for file in files if re.search(others, file)]


def test_stale_list_is_told_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(walk, "tables", lambda: "nothing\n")
    monkeypatch.setattr(sys, "argv", ["walk", "--check"])
    assert walk.main() == 1
    assert "3-the-walk.md is out of date" in capsys.readouterr().err


def test_calls_while_a_module_is_imported_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "imported_by_a_walk.py").write_text("import helped_by_a_walk\nhelped_by_a_walk.f()\n")
    (tmp_path / "helped_by_a_walk.py").write_text("def f(): pass\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found = walk.Walk()
    with found.watching():
        helper: Any = import_module("imported_by_a_walk").helped_by_a_walk
    assert helper.__file__ not in found.entered
    with found.watching():
        helper.f()
    assert found.entered[helper.__file__] == "f"
