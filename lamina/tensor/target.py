"""Targets by TVM's strings: `llvm`, `llvm -mcpu=skylake-avx512`, `cuda -arch=sm_90`, `nvptx`, `opencl`,
`rocm -mcpu=gfx90a`.

A target that says nothing of the machine is this one; `-mtriple=aarch64-linux-gnu` is another one. Options that choose
nothing here (`-keys`, `-libs`, ...) are taken and left; one that is not known is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from lamina.backends.cpu.machines import (
    EXTENSIONS_OF_OTHERS,
    LEVELS,
    NATIVE,
    PROCESSORS,
    PROCESSORS_OF_OTHERS,
    hint_for,
    machine_of_triple,
    x86_vectors,
)
from lamina.errors import UnsupportedError, UsageError, did_you_mean

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

CPU_KINDS = ("llvm", "cpu")
DEVICE_KINDS = {"cuda": "cuda", "nvptx": "ptx", "opencl": "opencl", "rocm": "amdgcn"}
"""Kinds of targets for GPUs, and the format of the text that they are."""
DEFAULT_ARCH = {"cuda": "sm_80", "nvptx": "sm_80", "rocm": "gfx900"}
"""The architecture of a GPU where none is given; kinds whose texts are for all of them have none."""

_ALIASES = {"core-avx2": "haswell"}
"""Other names of LLVM's for a processor."""
_IGNORED = (
    *("keys", "libs", "device", "model", "tag", "host", "opt-level", "link-params", "system-lib", "executor"),
    *("runtime", "interface-api", "unpacked-api", "mfloat-abi", "mabi", "fast-math"),
)
_CONVENTIONS = {"mfloat-abi": {"armv7": "hard", "aarch64": "hard"}, "mabi": {"riscv64": "lp64d"}}
"""Conventions of calls on machines that are not this one, by the options of TVM that say them."""
_CPU_OPTIONS = ("mcpu", "mattr", "mtriple", "num-cores", *_IGNORED)
_GPU_LIMITS = {
    "max_threads_per_block": "max_threads",
    "max_num_threads": "max_threads",
    "max_shared_memory_per_block": "max_shared",
}
_GPU_OPTIONS = (*_GPU_LIMITS, "thread_warp_size", *_IGNORED)


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
        given = {str(k): v for k, v in cast("Mapping[Any, Any]", target).items()}
        kind, options = str(given.pop("kind", "")), tuple((k, _text(v)) for k, v in given.items())
    elif isinstance(target, str) and target.split():
        kind, *words = target.split()
        options = tuple(_option(w) for w in words)
    else:
        raise UsageError(f"a target is a string such as 'llvm', not {target!r}")
    if kind in CPU_KINDS or kind in LEVELS:
        _check(kind, options, _CPU_OPTIONS)
        return Target("llvm", options, _cpu({"mcpu": kind, **dict(options)} if kind in LEVELS else dict(options)))
    if kind in DEVICE_KINDS:
        _check(kind, options, ("arch", "mcpu", *_GPU_OPTIONS) if kind in DEFAULT_ARCH else _GPU_OPTIONS)
        found = Target(kind, options)
        if found.arch:
            _check_device(found)
        return found
    known = [*CPU_KINDS, *DEVICE_KINDS]
    raise UsageError(f"no target {kind!r}", hint=did_you_mean(kind, known) or f"there are {', '.join(known)}")


def _text(value: Any) -> str:
    return ",".join(map(str, cast("list[Any]", value))) if isinstance(value, (list, tuple)) else str(value)


def _option(word: str) -> tuple[str, str]:
    name, _, value = word.lstrip("-").partition("=")
    return name, value


def _check(kind: str, options: tuple[tuple[str, str], ...], known: tuple[str, ...]) -> None:
    for name, value in options:
        if name not in known:
            hint = did_you_mean(name, list(known)) or f"there are {', '.join(known)}"
            raise UsageError(f"target {kind!r} has no option {name!r}", hint=hint)
        if name in (*_GPU_LIMITS, "num-cores") and not value.isdigit():
            raise UsageError(f"target {kind!r}: -{name} is a number, not {value!r}")


def _check_device(target: Target) -> None:
    from lamina.backends.nvptx.target import nvptx_target
    from lamina.backends.rocm.target import rocm_target

    (rocm_target if target.kind == "rocm" else nvptx_target)(target.arch)


def _cpu(options: dict[str, str]) -> TargetAttr:
    from lamina.ir.targets import check_host
    from lamina.ir.targets import target_of as cpu_target

    threads = int(options["num-cores"]) if "num-cores" in options else None
    elsewhere = _other_machine(options.get("mtriple", ""), threads)
    if elsewhere is not None:
        return _of_other(elsewhere, options)
    cpu = options.get("mcpu", NATIVE)
    cpu = _ALIASES.get(cpu, cpu)
    # Of a processor the level: what it has beyond that is not known of the machine that the program is written on.
    level = PROCESSORS.get(cpu, cpu)
    if level not in (NATIVE, *LEVELS):
        raise UsageError(f"no cpu {cpu!r}", hint=hint_for(cpu, [NATIVE]))
    found = cpu_target("cpu" if level == NATIVE else level, threads)
    if options.get("mattr"):
        found = _with_features(found, options["mattr"].split(","))
    check_host(found)
    return found


def _other_machine(triple: str, threads: int | None) -> TargetAttr | None:
    """The machine of a triple, None where that is this one's or there is none. Raises UnsupportedError."""
    from lamina.ir.targets import target_of as cpu_target

    if not triple or triple.partition("-")[0] == _processor_of(_this_machine()):
        return None
    return cpu_target(machine_of_triple(triple), threads)


def _of_other(machine: TargetAttr, options: dict[str, str]) -> TargetAttr:
    """A machine that is not this one, with what the options say. Raises UsageError for other processors than its own,
    and where a feature is switched off that code for it needs."""
    name = machine_of_triple(machine.triple.data)
    processors = PROCESSORS_OF_OTHERS.get(name, ())
    cpu = options.get("mcpu", "generic")
    if cpu not in ("generic", *processors):
        near = did_you_mean(cpu, [*processors]) or f"there are generic, {', '.join(processors)}"
        raise UsageError(f"no cpu {cpu!r} of {name}", hint=near)
    for option, kinds in _CONVENTIONS.items():
        if options.get(option, kinds.get(name, "")) != kinds.get(name, ""):
            what = f"code for {name} is not made with -{option}={options[option]}"
            raise UnsupportedError(what, hint=f"leave -{option} out")
    changes = options.get("mattr", "").split(",") if options.get("mattr") else []
    needed = {f"-{f[1:]}" for f in machine.feature_list()}
    if lacking := needed.intersection(changes):
        raise UnsupportedError(f"code for {name} needs {', '.join(sorted(f[1:] for f in lacking))}")
    for change in changes:
        if change[1:] not in EXTENSIONS_OF_OTHERS.get(name, (change[1:],)):
            near = did_you_mean(change[1:], [*EXTENSIONS_OF_OTHERS[name]])
            hint = near or f"there are {', '.join(EXTENSIONS_OF_OTHERS[name])}"
            raise UsageError(f"no feature {change[1:]!r} of {name}", hint=hint)
    return _with_features(machine, changes) if changes else machine


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
    return machine.triple.data.partition("-")[0]


def _this_machine() -> TargetAttr:
    from lamina.ir.targets import target_of as cpu_target

    return cpu_target("cpu", 1)


def _with_features(target: TargetAttr, changes: list[str]) -> TargetAttr:
    """The machine with features switched on or off: `+avx2`, `-avx512f`."""
    from lamina.dialects.target import TargetAttr

    for change in changes:
        if change[:1] not in ("+", "-") or not change[1:]:
            raise UsageError(f"target 'llvm': -mattr is a list such as +avx2,-avx512f, not {change!r}")
    signs = {f[1:]: f[0] for f in [*target.feature_list(), *changes]}
    if any(c.startswith("-avx512f") for c in changes):  # the others of AVX-512 need it
        signs |= {f: "-" for f in signs if f.startswith("avx512")}
    features = ",".join(sign + name for name, sign in sorted(signs.items()))
    vectors = target.vector_bits.data, target.registers.data
    if target.triple.data.startswith("x86_64"):
        vectors = x86_vectors([name for name, sign in signs.items() if sign == "+"])
    return TargetAttr.get(target.triple.data, target.cpu.data, features, *vectors, target.threads.data)
