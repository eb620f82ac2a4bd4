"""Dialects and passes that are not ours: xDSL's tools with our universe, and other packages' universes in ours."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects import get_all_dialects
from xdsl.transforms import get_all_passes

from lamina.ir import registry
from lamina.ir.registry import our_passes
from lamina.universe import LAMINA_UNIVERSE

pytestmark = pytest.mark.slow

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


@pytest.mark.parametrize(
    "text, found",
    [
        ("[xdsl.universe]\ndoubler = doubler_universe:UNIVERSE\n", True),
        ("[xdsl.universe]\nlamina = lamina.universe:LAMINA_UNIVERSE\n[other]\na = b:c\n", False),
        ("[console_scripts]\nxdsl = doubler:main\n", False),
        ("", False),
    ],
)
def test_metadata_are_read_where_a_package_may_have_a_universe(text: str, found: bool, tmp_path: Path) -> None:
    info = tmp_path / "doubler-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(text)
    (tmp_path / "other-1.0.dist-info").mkdir()
    assert registry._has_universe(str(tmp_path)) is found  # pyright: ignore[reportPrivateUsage]


def test_packages_of_an_archive_may_have_a_universe(tmp_path: Path) -> None:
    archive = tmp_path / "packages.zip"
    archive.write_bytes(b"")
    for path, found in ((archive, True), (tmp_path / "nowhere", False)):
        assert registry._has_universe(str(path)) is found  # pyright: ignore[reportPrivateUsage]


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


CUBES = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = cubes.cube %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


def lamina(*argv: str | Path) -> tuple[int, str, str]:
    from lamina.cli import command as cli

    out, err = io.StringIO(), io.StringIO()
    return cli.run([str(a) for a in argv], out, err), out.getvalue(), err.getvalue()


@pytest.fixture
def cubes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "net.mlir").write_text(CUBES)
    np.savez(tmp_path / "x.npz", x=np.arange(4, dtype=np.float32))
    return tmp_path


def test_lamina_compiles_ops_of_a_loaded_file(cubes: Path) -> None:
    """By their meaning, or as a pass of the file has lowered them."""
    words = (cubes / "net.mlir", "--load", INPUTS / "cubes.py")
    for more in ((), ("-p", "cubes-lower"), ("-p", "func.func(cubes-lower),cse")):
        status, out, err = lamina("run", *words, *more, "--input", cubes / "x.npz")
        assert (status, out, err) == (0, "y: float32[4] [ 0.,  1.,  8., 27.]\n", "")
    relay = lamina("compile", *words, "-p", "cubes-lower", "--emit", "relay")[1]
    assert relay.count("relay.multiply") == 2 and "cubes.cube" not in relay
    assert "all 4 steps agree" in lamina("debug", "compare", *words, "-p", "relay-fuse-ops,relay-to-te,cpu-schedule")[1]
    status, _, err = lamina("run", cubes / "net.mlir")
    assert status == 1 and "unknown dialect 'cubes'" in err


def test_a_program_with_ops_of_a_loaded_file_is_not_cached(cubes: Path) -> None:
    file = cubes / "mine.py"
    for factor, wanted in (("x * x * x", "27."), ("x * x", "9.")):
        text = (INPUTS / "cubes.py").read_text().replace("return x * x * x", f"return {factor}", 1)
        file.write_text(text)
        out = lamina("run", cubes / "net.mlir", "--load", file, "--input", cubes / "x.npz")[1]
        assert out.rstrip().endswith(f"{wanted}]"), out


def test_mistakes_with_passes_are_one_line(cubes: Path) -> None:
    net, mistaken = cubes / "net.mlir", INPUTS / "mistaken.py"
    for words, status, said in (
        (("--load", cubes / "nowhere.py"), 2, "no such file"),
        (
            ("--load", INPUTS / "cubes.py", "-p", "cubes-lowr"),
            2,
            "unknown pass 'cubes-lowr'; did you mean 'cubes-lower'?",
        ),
        (("--load", INPUTS / "cubes.py", "-p", "func.func("), 2, "expected the name of a pass"),
        (("--load", INPUTS / "cubes.py", "--load", mistaken, "-p", "mistaken-call"), 1, "in pass 'mistaken-call'"),
        (("--load", INPUTS / "broken_load.py"), 1, "broken_load.py:"),
    ):
        found, out, err = lamina("run", net, *words)
        assert (found, out) == (status, "") and err.startswith("error: ") and err.count("\n") == 1 and said in err, err


def test_lamina_knows_the_dialects_and_passes_of_installed_packages(cubes: Path) -> None:
    (cubes / "cubes.py").write_text((INPUTS / "cubes.py").read_text())
    (cubes / "cubes_universe.py").write_text(
        "from xdsl.universe import Universe\n"
        "import cubes\n"
        "UNIVERSE = Universe(all_dialects={'cubes': lambda: cubes.CUBES},\n"
        "                    all_passes={'cubes-lower': lambda: cubes.LowerCubes})\n"
    )
    info = cubes / "cubes-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cubes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[xdsl.universe]\ncubes = cubes_universe:UNIVERSE\n")
    run = f"{BIN}/lamina run net.mlir --input x.npz"
    python = f"{sys.executable} -c 'import lamina; print(lamina.load(\"net.mlir\").ops())'"
    done = subprocess.run(
        ["sh", "-c", f"{run} && {run} -p cubes-lower && {python}"],
        env={**os.environ, "PYTHONPATH": str(cubes)},
        cwd=cubes,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "y: float32[4] [ 0.,  1.,  8., 27.]\n" * 2 + "{}\n"


def test_loaded_file_may_not_take_a_known_name(tmp_path: Path) -> None:
    from lamina.opt_tool.command import run_opt_tool

    file = tmp_path / "mine.py"
    file.write_text((INPUTS / "doubler.py").read_text().replace("double-lower", "cse"))
    status, _, err = run_opt_tool(["--load", str(file)])
    assert status == 1 and "pass 'cse' exists already; choose another name" in err
    file.write_text((INPUTS / "doubler.py").read_text().replace('Dialect("double"', 'Dialect("arith"'))
    status, _, err = run_opt_tool(["--load", str(file)])
    assert status == 1 and "dialect 'arith' exists already" in err
