"""What the system tells of a processor agrees with what LLVM finds, under its names."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamina.backends.cpu import machines
from lamina.backends.cpu import system_features as module
from lamina.backends.cpu.machines import LEVELS, OTHERS, PROCESSORS, named, processor
from lamina.backends.cpu.system_features import system_features, system_triple


def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str, text: str) -> frozenset[str]:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text(text)
    monkeypatch.setattr(module.platform, "machine", lambda: machine)
    return system_features(tmp_path)


def test_this_processor_is_told_as_llvm_finds_it() -> None:
    assert system_triple().partition("-")[0] == processor().triple.partition("-")[0]
    signs = {f[1:]: f[0] for f in processor().feature_list()}
    found = system_features()
    # An older Linux does not know the newest.
    known = {f[1:] for name in ("icelake-server", *OTHERS) for f in named(name).feature_list()}
    assert not {name for name, sign in signs.items() if sign == "+"} & known - found
    if processor().triple.startswith("x86_64"):
        unchosen = set(module._X86_UNCHOSEN)  # pyright: ignore[reportPrivateUsage]
        assert not {name for name, sign in signs.items() if sign == "-"} & found - unchosen


def test_every_feature_of_a_named_machine_can_be_told() -> None:
    known = {*module._X86, *module._X86_SAME}  # pyright: ignore[reportPrivateUsage]
    for name in (*LEVELS, *PROCESSORS):
        assert {f[1:] for f in named(name).feature_list()} <= known, name


@pytest.mark.parametrize(
    "name, machine, text",
    [
        ("aarch64", "aarch64", "processor\t: 0\nFeatures\t: fp asimd evtstrm aes crc32 atomics\n"),
        ("armv7", "armv7l", "processor : 0\nFeatures : half thumb fastmult vfp neon vfpv3 vfpv4\n"),
        ("riscv64", "riscv64", "hart : 0\nisa : rv64imafdcv_zicntr_zihintpause_zba\nmmu : sv57\n"),
        ("rv64gc", "riscv64", "hart : 1\nisa : rv64imafdc_zicntr_zihintpause\nmmu : sv39\n"),
    ],
)
def test_machines_that_are_no_x86(
    name: str, machine: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = told(tmp_path, monkeypatch, machine, text)
    assert {f[1:] for f in OTHERS[name].feature_list()} <= found
    assert system_triple() == OTHERS[name].triple


def test_a_hint_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor that does not know the instruction of a pause passes over it; without vectors there are none."""
    features = told(tmp_path, monkeypatch, "riscv64", "hart : 1\nisa : rv64imafdc\nuarch : sifive,u74-mc\n")
    here = OTHERS["rv64gc"]._replace(features=",".join(f"+{name}" for name in sorted(features)))
    monkeypatch.setattr(machines, "processor", lambda: here)
    monkeypatch.delenv(machines.VARIABLE, raising=False)
    assert machines.obstacle(OTHERS["rv64gc"]) == ""
    assert machines.obstacle(OTHERS["riscv64"]) == "this machine lacks v"


def test_a_flag_that_is_not_told_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = told(tmp_path, monkeypatch, "x86_64", "flags\t\t: lm sse sse2 avx512_vnni\n")
    assert {"64bit", "sse2", "avx512vnni"} <= found
    assert not found & {"avx", "avx2", "fma", "sse3"}


def test_a_system_without_that_file_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.platform, "machine", lambda: "aarch64")
    assert system_features(tmp_path) == frozenset()
