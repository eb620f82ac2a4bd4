"""Targets by TVM's strings: `llvm`, `llvm -mcpu=skylake-avx512`, `cuda -arch=sm_90`, `nvptx`, `opencl`,
`rocm -mcpu=gfx90a`.

A target that says nothing of the machine is this one; `-mtriple=aarch64-linux-gnu` is another one. Options that choose
nothing here (`-keys`, `-libs`, ...) are taken and left; one that is not known is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from lamina.backends.cpu.machines import LEVELS, kind_of
from lamina.dialects.machine_spec import TargetSpec
from lamina.errors import UnsupportedError, UsageError, did_you_mean
from lamina.ir.target_strings import CPU_KINDS, IGNORED, check_options, kind_and_options

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

DEVICE_KINDS = {"cuda": "cuda", "nvptx": "ptx", "opencl": "opencl", "rocm": "amdgcn"}
"""Kinds of targets for GPUs, and the format of the text that they are."""
DEFAULT_ARCH = {"cuda": "sm_80", "nvptx": "sm_80", "rocm": "gfx900"}
"""The architecture of a GPU where none is given; kinds whose texts are for all of them have none."""

_GPU_LIMITS = {
    "max_threads_per_block": "max_threads",
    "max_num_threads": "max_threads",
    "max_shared_memory_per_block": "max_shared",
}
_GPU_OPTIONS = (*_GPU_LIMITS, "thread_warp_size", *IGNORED)


@dataclass(frozen=True)
class Target:
    """A target: its kind and the options of its string; `attr` is the machine of one for a CPU."""

    kind: str
    options: tuple[tuple[str, str], ...] = ()
    attr: TargetAttr | None = None

    @property
    def text(self) -> str:
        return " ".join([self.kind, *(f"-{k}={v}" if v else f"-{k}" for k, v in self.options)])

    @property
    def arch(self) -> str:
        """The architecture of a GPU, empty where the kind has none."""
        given = dict(self.options)
        return given.get("arch") or given.get("mcpu") or DEFAULT_ARCH.get(self.kind, "")

    def limits(self) -> dict[str, int]:
        """The limits of a block of a GPU, as options of `tir-split-host-device`."""
        return {_GPU_LIMITS[k]: int(v) for k, v in self.options if k in _GPU_LIMITS}

    def __str__(self) -> str:
        return self.text

    def __enter__(self) -> Target:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def target_of(target: Any) -> Target:
    """A target in any of its spellings: a string, TVM's dictionary, a #lamina.target.

    The machine of a triple may be another one than this (`check_here`). Raises LaminaError for a kind or an option that
    is not known, and for a processor of this machine's architecture whose code cannot run here.
    """
    from lamina.dialects.target import TargetAttr

    if isinstance(target, Target):
        return target
    if isinstance(target, TargetAttr):
        return Target("llvm", (), target)
    if isinstance(target, Mapping):
        kind, options = kind_and_options({str(k): v for k, v in cast("Mapping[Any, Any]", target).items()})
    elif isinstance(target, str) and target.split():
        kind, options = kind_and_options(target)
    else:
        raise UsageError(f"a target is a string such as 'llvm', not {target!r}")
    if kind in CPU_KINDS or kind in LEVELS:
        return Target("llvm", options, _cpu(kind, options))
    if kind in DEVICE_KINDS:
        known_options = ("arch", "mcpu", *_GPU_OPTIONS) if kind in DEFAULT_ARCH else _GPU_OPTIONS
        check_options(kind, options, known_options, tuple(_GPU_LIMITS))
        found = Target(kind, options)
        if found.arch:
            _check_device(found)
        return found
    known = [*CPU_KINDS, *DEVICE_KINDS]
    raise UsageError(f"no target {kind!r}", hint=did_you_mean(kind, known) or f"there are {', '.join(known)}")


def _check_device(target: Target) -> None:
    from lamina.backends.nvptx.target import nvptx_target
    from lamina.backends.rocm.target import rocm_target

    (rocm_target if target.kind == "rocm" else nvptx_target)(target.arch)


def _cpu(kind: str, options: tuple[tuple[str, str], ...]) -> TargetAttr:
    from lamina.ir.targets import check_host, spec_of_options

    found = spec_of_options(kind, options)
    machine = found.attr()
    if runs_here(machine):
        check_host(found)
    return machine


def runs_here(machine: TargetAttr) -> bool:
    """Whether a machine has the processor of this one, of whatever features."""
    return _processor_of(machine) == _processor_of(_this_machine())


def check_here(target: Target) -> None:
    """Raise UnsupportedError where the machine of a target is not this one."""
    if target.attr is not None and not runs_here(target.attr):
        wanted, here = _processor_of(target.attr), _processor_of(_this_machine())
        what = f"target 'llvm': code for {wanted} does not run here, this machine is {here}"
        raise UnsupportedError(what, hint="relay.build and export_library write models for it")


def _processor_of(machine: TargetAttr) -> str:
    """The processor of a machine, with its system where that is not Linux."""
    return kind_of(TargetSpec.of(machine))


def _this_machine() -> TargetAttr:
    from lamina.ir.targets import target_of as cpu_target

    return cpu_target("cpu", 1)
