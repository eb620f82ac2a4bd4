"""Targets by TVM's strings: `llvm`, `llvm -mcpu=skylake-avx512`, `cuda`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lamina.errors import UnsupportedError, UsageError, did_you_mean

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

CPU_KINDS = ("llvm", "cpu")
DEVICE_KINDS = {"cuda": "nvptx", "nvptx": "nvptx", "c": "c"}
"""Kinds of targets that a backend of its own builds for: `lamina.backends.<name>.program`, function `build`."""

_LEVELS = {
    "x86-64-v3": ("core-avx2", "haswell", "broadwell", "skylake", "znver1", "znver2", "znver3"),
    "x86-64-v4": (
        *("skylake-avx512", "cascadelake", "cooperlake", "icelake-client", "icelake-server", "sapphirerapids"),
        *("znver4", "znver5", "tigerlake", "rocketlake", "emeraldrapids", "graniterapids"),
    ),
}


@dataclass(frozen=True)
class Target:
    """A target: its kind, the keys of its string, and what builds for it."""

    kind: str
    options: tuple[tuple[str, str], ...] = ()
    attr: TargetAttr | None = None
    backend: Callable[..., Any] | None = None

    @property
    def text(self) -> str:
        return " ".join([self.kind, *(f"-{k}={v}" if v else f"-{k}" for k, v in self.options)])

    def __str__(self) -> str:
        return self.text

    def __enter__(self) -> Target:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def target_of(target: Any) -> Target:
    """A target in any of its spellings. Raises LaminaError for a kind that is not known or not there."""
    from lamina.dialects.target import TargetAttr

    if isinstance(target, Target):
        return target
    if isinstance(target, TargetAttr):
        return Target("llvm", (), target)
    if not isinstance(target, str) or not target.split():
        raise UsageError(f"a target is a string such as 'llvm', not {target!r}")
    kind, *words = target.split()
    options = tuple(_option(w) for w in words)
    if kind in CPU_KINDS:
        return Target("llvm", options, _cpu(dict(options)))
    if kind in DEVICE_KINDS:
        return Target(kind, options, None, _backend(kind))
    if kind.startswith("x86-64"):
        from lamina.driver import target_of as cpu_target

        return Target("llvm", options, cpu_target(kind, None))
    known = [*CPU_KINDS, *DEVICE_KINDS]
    raise UsageError(f"no target {kind!r}", hint=did_you_mean(kind, known) or f"there are {', '.join(known)}")


def _option(word: str) -> tuple[str, str]:
    name, _, value = word.lstrip("-").partition("=")
    return name, value


def _cpu(options: dict[str, str]) -> TargetAttr:
    from lamina.driver import check_host
    from lamina.driver import target_of as cpu_target

    cpu = options.get("mcpu", "")
    threads = int(options["num-cores"]) if options.get("num-cores", "").isdigit() else None
    level = next((level for level, cpus in _LEVELS.items() if cpu in cpus), cpu if cpu.startswith("x86-64") else "")
    found = cpu_target(level or "cpu", threads)
    check_host(found)
    return found


def _backend(kind: str) -> Callable[..., Any]:
    """What builds a program for a device: `build(module, function, args, target)` of its backend."""
    module = f"lamina.backends.{DEVICE_KINDS[kind]}"
    if find_spec(module) is None or find_spec(f"{module}.program") is None:
        raise UnsupportedError(f"target {kind!r}: there is no backend for it", hint="build for 'llvm'")
    return import_module(f"{module}.program").build
