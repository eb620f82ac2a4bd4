"""Machines by name, and this machine declared to be one of them by LAMINA_HOST."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lamina
from lamina.backends.cpu import machines
from lamina.backends.cpu.jit import host_spec, host_target, named_target
from lamina.dialects.machine_spec import TargetSpec
from lamina.errors import InputError, UsageError
from lamina.ir.targets import check_host

from .host_features import lacking

ADD = """func.func @main(%x: tensor<9xf32>) -> tensor<9xf32> {
  %y = relay.add %x, %x : tensor<9xf32>
  return %y : tensor<9xf32>
}
"""
NAMES = [*machines.LEVELS, *machines.PROCESSORS]


@pytest.fixture
def add(tmp_path: Path) -> Path:
    """A small program."""
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    return path


def declare(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(machines.VARIABLE, name)


def undeclare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(machines.VARIABLE, raising=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_declared_machine_is_the_target_cpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    undeclare(monkeypatch)
    triple = host_spec(1).triple
    declare(monkeypatch, name)
    host = host_spec(2)
    assert host == machines.named(name)._replace(triple=triple, threads=2)
    assert host.attr() == named_target("cpu", 2) == host_target(2)


@pytest.mark.parametrize("name", ["", "native"])
def test_native_is_this_machine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, name)
    host = host_spec(1)
    assert host == machines.processor() and host.feature_list()
    check_host(host)


def test_levels_contain_each_other() -> None:
    levels = [{*features} for features in machines.LEVELS.values()]
    assert all(small < large for small, large in zip(levels, levels[1:], strict=False))
    for name, level in machines.PROCESSORS.items():
        assert set(machines.named(level).feature_list()) <= set(machines.named(name).feature_list())


def test_llvm_knows_the_machines_and_their_features() -> None:
    """A feature under a wrong name would count as missing everywhere."""
    here = machines.processor()
    if here.triple.startswith("x86_64"):
        known = {f[1:] for f in here.feature_list()}
        assert {f[1:] for n in NAMES for f in machines.named(n).feature_list()} <= known
    texts = "".join(f'define void @"{n}"() "target-cpu"="{n}" {{\n ret void\n}}\n' for n in NAMES)
    code = (
        "import sys, llvmlite.binding as llvm\n"
        "llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()\n"
        "target = llvm.Target.from_triple('x86_64-unknown-linux-gnu').create_target_machine()\n"
        "target.emit_object(llvm.parse_assembly(sys.stdin.read()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=texts, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_declared_machine_lacks_is_refused(add: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, "x86-64-v2")
    check_host(named_target("x86-64-v2"))
    what = "code for x86-64-v3 cannot run here: this machine, x86-64-v2 as LAMINA_HOST says, lacks avx, avx2, bmi, bmi2"
    with pytest.raises(InputError, match=f"{what}; compile with target 'cpu'"):
        check_host(named_target("x86-64-v3"))
    with pytest.raises(InputError, match="code for haswell cannot run here"):
        lamina.compile(add, "haswell", cache=False)
    # By its processor: what LLVM takes it to have is not written among the features.
    with pytest.raises(InputError, match="code for haswell cannot run here: .* lacks avx, avx2"):
        check_host(TargetSpec(machines.processor().triple, "haswell", "", 128, 16))


def test_what_the_processor_lacks_is_refused_though_declared(add: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    undeclare(monkeypatch)
    small = machines.named("x86-64-v2")._replace(triple=machines.processor().triple)
    monkeypatch.setattr(machines, "processor", lambda: small)
    declare(monkeypatch, "icelake-server")
    hint = "LAMINA_HOST=native takes it as it is"
    with pytest.raises(InputError, match=f"code for icelake-server cannot run here: this machine lacks avx.*; {hint}"):
        lamina.compile(add, "cpu", cache=False)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x86-64-v33", "LAMINA_HOST: no machine 'x86-64-v33'; did you mean 'x86-64-v3'"),
        ("natve", "LAMINA_HOST: no machine 'natve'; did you mean 'native'?"),
        ("6502", "LAMINA_HOST: no machine '6502'; there are native, x86-64, x86-64-v2, .*processors such as haswell"),
        ("aarch64", "LAMINA_HOST: aarch64 is no x86_64, as this machine is"),
    ],
)
def test_machines_that_there_are_not(name: str, message: str, add: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, name)
    with pytest.raises(UsageError, match=message) as error:
        lamina.compile(add, cache=False)
    assert "\n" not in str(error.value)


def test_a_wrong_name_is_one_line_on_the_command_line(add: Path) -> None:
    code = "import os, sys; os.environ['LAMINA_HOST'] = 'v3'; from lamina.cli import main; main()"
    words = [sys.executable, "-c", code, "compile", str(add)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert "LAMINA_HOST: no machine 'v3'" in done.stderr and "Traceback" not in done.stderr


def test_programs_of_declared_machines_are_cached_apart(
    add: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_CACHE", "on")
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    x = np.arange(9, dtype=np.float32)
    found: list[tuple[str, bool]] = []
    for name in ("x86-64", "x86-64-v2", "x86-64", "x86-64-v2"):
        declare(monkeypatch, name)
        if lacking(name):
            pytest.skip(f"this machine lacks what {name} has")
        exe = lamina.compile(add, threads=1)
        found.append((exe.target.cpu.data, exe.cached))
        np.testing.assert_array_equal(exe(x), x + x)
    assert found == [("x86-64", False), ("x86-64-v2", False), ("x86-64", True), ("x86-64-v2", True)]


def test_a_saved_program_is_refused_where_the_declared_machine_lacks_it(
    add: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "add.lamina"
    lamina.compile(add, "x86-64-v2", threads=1, cache=False).save(path)
    lamina.Executable.load(path)
    declare(monkeypatch, "x86-64")
    with pytest.raises(InputError, match="add.lamina: code for x86-64-v2 cannot run here: .* lacks cx16, popcnt"):
        lamina.Executable.load(path)


@pytest.mark.parametrize("target", NAMES)
def test_a_parameter_called_target_is_a_machine_to_run_on(target: str) -> None:
    """The others have been skipped."""
    check_host(named_target(target))
