"""Dialects and passes that are not ours: xDSL's tools with our universe, and other packages' universes in ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from xdsl.dialects import get_all_dialects
from xdsl.transforms import get_all_passes

from lamina.registry import our_passes
from lamina.universe import LAMINA_UNIVERSE

BIN = Path(sys.executable).parent
INPUTS = Path(__file__).parents[1] / "opt_tool" / "inputs"

RELAY = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.add %x, %x : tensor<8xf32>
  %1 = relay.nn.relu %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
"""


def test_our_universe_takes_no_name_of_xdsl() -> None:
    assert not set(LAMINA_UNIVERSE.all_dialects) & set(get_all_dialects())
    assert not set(LAMINA_UNIVERSE.all_passes) & set(get_all_passes())
    assert not set(our_passes()) & set(get_all_passes())
    assert {"relay", "te", "tir"} <= set(LAMINA_UNIVERSE.all_dialects)


def test_our_universe_stops_above_the_llvm_level() -> None:
    assert not [n for n in LAMINA_UNIVERSE.all_passes if n.startswith(("llvm-", "cpu-")) or n == "tir-to-llvm"]


def test_plain_xdsl_opt_reads_a_relay_file() -> None:
    done = subprocess.run([BIN / "xdsl-opt"], input=RELAY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "relay.nn.relu" in done.stdout


def test_installed_universe_of_another_package(tmp_path: Path) -> None:
    """A package with an `xdsl.universe` entry point, as an installer leaves it: a module and its metadata."""
    (tmp_path / "doubler.py").write_text((INPUTS / "doubler.py").read_text())
    (tmp_path / "doubler_universe.py").write_text(
        "from xdsl.universe import Universe\n"
        "import doubler\n"
        "UNIVERSE = Universe(all_dialects={'double': lambda: doubler.DOUBLE},\n"
        "                    all_passes={'double-lower': lambda: doubler.LowerTwice})\n"
    )
    info = tmp_path / "doubler-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: doubler\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[xdsl.universe]\ndoubler = doubler_universe:UNIVERSE\nbroken = no_such_module:UNIVERSE\n"
    )
    text = "func.func @f(%x: i32) -> i32 {\n%y = double.twice %x : i32 -> i32\nreturn %y : i32\n}\n"
    done = subprocess.run(
        [BIN / "opt-tool", "-p", "double-lower"],
        input=text,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "arith.addi %x, %x : i32" in done.stdout
    assert "warning: universe 'broken' (no_such_module:UNIVERSE) is left out" in done.stderr


def test_loaded_file_may_not_take_a_known_name(tmp_path: Path) -> None:
    from lamina.opt_tool import run_opt_tool

    file = tmp_path / "mine.py"
    file.write_text((INPUTS / "doubler.py").read_text().replace("double-lower", "cse"))
    status, _, err = run_opt_tool(["--load", str(file)])
    assert status == 1 and "pass 'cse' exists already; choose another name" in err
    file.write_text((INPUTS / "doubler.py").read_text().replace('Dialect("double"', 'Dialect("arith"'))
    status, _, err = run_opt_tool(["--load", str(file)])
    assert status == 1 and "dialect 'arith' exists already" in err
