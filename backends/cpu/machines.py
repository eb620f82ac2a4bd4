"""Machines by name, and which of them this one is: what its processor has is read here and nowhere else.

The environment variable LAMINA_HOST declares this machine to be one of them, `x86-64-v3` for instance: the target `cpu`
is that machine then, and code for what it lacks is refused as if the processor lacked it. So a program can be compiled,
run and tested as on a smaller processor. Of a larger one only the texts can be had: its code is refused as well.
Libraries that are not ours (OpenBLAS, oneDNN) read the processor themselves. The number of threads is no part of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lamina.backends.cpu.cache_directory import default_directory
from lamina.backends.cpu.system_features import system_features, system_triple
from lamina.dialects.machine_spec import TargetSpec, is_macos, is_windows
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean

VARIABLE = "LAMINA_HOST"
NATIVE = "native"
"""This machine as it is."""
FIGURES = "LAMINA_FIGURES"
"""Environment variable: a file of figures of this machine (`figures.py`), or `shipped` for those of its name."""
SHIPPED = "shipped"

_X86 = "x86_64-unknown-linux-gnu"
WINDOWS = "-windows"
"""The end of a name of an x86-64 that has Windows: `x86-64-v3-windows`."""
_X86_WINDOWS = "x86_64-pc-windows-gnu"
"""Windows with the conventions that MinGW names: other linkers take such objects too, which ask for no library."""

_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", *_V2, "xsave")
_V4 = ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl", *_V3)

# What processors have beyond the level, as far as code for vectors can use it.
_WIDE_CRYPTO = ("gfni", "vaes", "vpclmulqdq")
_ICE_LAKE = ("avx512bitalg", "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vnni", "avx512vpopcntdq", *_WIDE_CRYPTO)
_SAPPHIRE = ("amx-bf16", "amx-int8", "amx-tile", "avx512bf16", "avx512fp16", "avxvnni", *_ICE_LAKE)
_SIERRA = ("avxifma", "avxneconvert", "avxvnni", "avxvnniint8", *_WIDE_CRYPTO)

# What browsers have that have vectors at all (Chrome 91, Firefox 89, Safari 16.4). LLVM's first version has none of it.
_WASM = ("bulk-memory", "mutable-globals", "nontrapping-fptoint", "sign-ext", "simd128")

OTHERS = {
    "aarch64": TargetSpec("aarch64-unknown-linux-gnu", "generic", "+fp-armv8,+neon", 128, 32),
    "aarch64-macos": TargetSpec("aarch64-apple-macosx11.0.0", "apple-m1", "+fp-armv8,+neon", 128, 32),
    "armv7": TargetSpec("armv7-unknown-linux-gnueabihf", "generic", "+neon,+vfp4", 128, 16),
    "riscv64": TargetSpec("riscv64-unknown-linux-gnu", "generic-rv64", "+a,+c,+d,+f,+m,+v,+zihintpause", 128, 32),
    "rv64gc": TargetSpec("riscv64-unknown-linux-gnu", "generic-rv64", "+a,+c,+d,+f,+m,+zihintpause", 32, 32),
    "cortex-m4": TargetSpec("thumbv7em-unknown-none-eabihf", "cortex-m4", "+vfp4d16sp", 32, 16),
    "cortex-m7": TargetSpec("thumbv7em-unknown-none-eabihf", "cortex-m7", "+fp-armv8d16sp,-fp64", 32, 16),
    "cortex-m55": TargetSpec("thumbv8.1m.main-unknown-none-eabihf", "cortex-m55", "+mve.fp", 128, 8),
    "wasm32": TargetSpec("wasm32-unknown-unknown", "mvp", ",".join(f"+{f}" for f in _WASM), 128, 16),
}
"""Machines that are no x86-64: Arm with Neon, of 64 bits, with Linux or of Apple's, and of 32 bits; RISC-V with vectors
of 128 bits or more, and without any (rv64gc, what Linux distributions ask for), where floats are computed one by one;
microcontrollers without a system, with floats of 32 bits and no vectors (M4, M7: where an M7 has doubles they go
unused, others have none), or vectors of 128 bits (M55); and WebAssembly with vectors, which has no registers: engines
give it those of the processor, 16 on x86-64."""
PROCESSORS_OF_OTHERS = {
    "aarch64": (
        *(f"cortex-a{n}" for n in "34 35 53 55 57 65 72 73 75 76 77 78 510 710 715 720".split()),
        *("cortex-x1", "cortex-x2", "neoverse-n1", "neoverse-n2", "neoverse-v1", "neoverse-v2", "apple-m1", "carmel"),
        *("thunderx2t99", "a64fx", "ampere1"),
    ),
    "aarch64-macos": ("apple-m1", "apple-m2", "apple-m3", "apple-m4"),
    "armv7": ("cortex-a5", "cortex-a7", "cortex-a12", "cortex-a15", "cortex-a17", "krait"),
    "riscv64": ("sifive-p470", "sifive-p670", "sifive-x280", "spacemit-x60"),
    "rv64gc": ("sifive-s76", "sifive-u54", "sifive-u74", "sifive-p450", "sifive-p550", "xiangshan-nanhu"),
}
"""Processors that have what these machines have, under LLVM's names. Code is made for what they have in common."""
EXTENSIONS_OF_OTHERS = {
    "aarch64": (
        *"aes bf16 crc crypto dotprod fp16fml fp-armv8 fullfp16 i8mm lse neon rcpc rdm sha2 sha3 sve sve2".split(),
        *"v8a v8.1a v8.2a v8.4a v8.6a v9a".split(),
    ),
    "armv7": tuple("aes crc d32 dsp fp16 hwdiv hwdiv-arm neon sha2 thumb2 v7 vfp3 vfp4".split()),
    "riscv64": tuple("a c d f m v zba zbb zbs zfh zfhmin zicsr zifencei zihintpause zvfh".split()),
    "rv64gc": tuple("a c d f m zba zbb zbs zfh zfhmin zicsr zifencei zihintpause".split()),
}
"""Features that code for these machines may be given beside those that it needs, under LLVM's names."""

WITHOUT = {"riscv64": ("rv64gc", "v")}
"""The machine that is another one without a feature, and the feature: who switches it off means that machine."""

_HINTS = {"zihintpause"}
"""Features whose instructions are hints: a processor that does not know them passes over them."""

_NAMES_IN_TRIPLES = {"arm64": "aarch64", "x86_64": "x86-64", "amd64": "x86-64"}
"""Names of processors in triples, where they are not those of the machines."""

LEVELS = {"x86-64": (), "x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}
"""The levels of the x86-64 psABI: their features, each level's among the next one's."""

_PROCESSORS = {
    "x86-64-v2": {"nehalem": (), "westmere": (), "silvermont": ()},
    "x86-64-v3": {
        **{name: () for name in ("haswell", "broadwell", "skylake", "znver1", "znver2")},
        "znver3": ("vaes", "vpclmulqdq"),
        "alderlake": ("avxvnni", *_WIDE_CRYPTO),
        "sierraforest": _SIERRA,
    },
    "x86-64-v4": {
        "skylake-avx512": (),
        "cascadelake": ("avx512vnni",),
        "cooperlake": ("avx512bf16", "avx512vnni"),
        **{name: _ICE_LAKE for name in ("icelake-client", "icelake-server", "rocketlake")},
        "tigerlake": ("avx512vp2intersect", *_ICE_LAKE),
        "sapphirerapids": _SAPPHIRE,
        "emeraldrapids": _SAPPHIRE,
        "graniterapids": ("amx-fp16", *_SAPPHIRE),
        "znver4": ("avx512bf16", *_ICE_LAKE),
        "znver5": ("avx512bf16", "avx512vp2intersect", "avxvnni", *_ICE_LAKE),
    },
}
"""Processors by the level that they have, under LLVM's names, each with its features beyond that."""

PROCESSORS = {name: level for level, names in _PROCESSORS.items() for name in names}
"""The level of each processor."""


def is_named(name: str) -> bool:
    """Whether `named` knows a machine of that name."""
    return name in OTHERS or _x86_name(name) in (*LEVELS, *PROCESSORS)


def _x86_name(name: str) -> str:
    """The name of an x86-64 without the system."""
    return name.removesuffix(WINDOWS)


def machine_of_triple(triple: str) -> str:
    """The name of the machine whose code runs where a triple of LLVM's or of GNU's says: `aarch64-linux-gnu`.

    Of x86-64 that is the lowest level. Raises UnsupportedError for processors and systems that no code is made for.
    """
    processor, _, system = triple.partition("-")
    name = _NAMES_IN_TRIPLES.get(processor, processor)
    name = "armv7" if name.startswith("armv7") or (name == "arm" and system.endswith("hf")) else name
    if is_of_other_system(triple):
        return _with_other_system(triple, name, system)
    by_triple = [other for other, spec in OTHERS.items() if spec.triple.startswith(f"{other}-")]
    if name not in (*by_triple, "x86-64"):
        here = ", ".join(["x86_64", *by_triple])
        raise UnsupportedError(f"no code is made for {triple}", hint=f"there are machines of {here}")
    convention = OTHERS[name].triple.rpartition("-")[2] if name in OTHERS else "gnu"
    if not re.fullmatch(rf"((\w+-)?linux-{convention})?", system):
        hint = f"{processor}-linux-{convention}, for the GNU C library"
        raise UnsupportedError(f"no code is made for {triple}", hint=hint)
    return name


def is_of_other_system(triple: str) -> bool:
    """Whether a triple names Windows or one of Apple's systems."""
    return any(word in triple for word in ("windows", "mingw", "apple", "darwin"))


def _with_other_system(triple: str, name: str, system: str) -> str:
    """The machine of such a triple. Raises UnsupportedError where no code is made for it."""
    if name == "x86-64" and re.fullmatch(r"(\w+-)?windows-gnu|w64-mingw32", system):
        return name + WINDOWS
    if name == "aarch64" and re.fullmatch(r"apple-(macosx|macos|darwin)[\d.]*", system):
        return "aarch64-macos"
    raise UnsupportedError(f"no code is made for {triple}", hint=f"{_X86_WINDOWS}, or arm64-apple-macosx")


@cache
def named(name: str) -> TargetSpec:
    """A machine by its name, with one thread: the same everywhere. Raises UsageError."""
    if name in OTHERS:
        return OTHERS[name]
    if not is_named(name):
        raise UsageError(f"no machine {name!r}", hint=hint_for(name))
    triple, name = _X86_WINDOWS if name.endswith(WINDOWS) else _X86, _x86_name(name)
    level = PROCESSORS.get(name, name)
    features = {*LEVELS[level], *(_PROCESSORS[level][name] if level != name else ())}
    return TargetSpec(triple, name, ",".join(f"+{f}" for f in sorted(features)), *x86_vectors(features))


def hint_for(name: str, others: Sequence[str] = ()) -> str:
    """A hint for a name that `named` does not know; `others` are names that would do as well."""
    levels = [*others, *LEVELS, *OTHERS]
    windows = [f"{level}{WINDOWS}" for level in LEVELS]
    some = f"there are {', '.join(levels)}, processors such as haswell or znver4, and x86-64-v3{WINDOWS}"
    return did_you_mean(name, [*levels, *windows, *PROCESSORS]) or some


def x86_vectors(features: Collection[str]) -> tuple[int, int]:
    """The bits of a vector register of a processor with these features, and how many such registers it has."""
    return (512, 32) if "avx512f" in features else (256 if "avx" in features else 128, 16)


@cache
def processor() -> TargetSpec:
    """This machine as it is, with one thread: all its features, and what it might have and has not.

    Without LLVM, of what the system tells, its features.
    """
    try:
        import llvmlite.binding as binding  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        told = system_features()
        return TargetSpec(system_triple(), "", ",".join(f"+{name}" for name in sorted(told)), *x86_vectors(told))
    llvm: Any = binding
    found: dict[str, bool] = dict(llvm.get_host_cpu_features())
    text = ",".join(("+" if on else "-") + name for name, on in sorted(found.items()))
    triple: str = llvm.get_process_triple()
    vectors = x86_vectors([name for name, on in found.items() if on]) if triple.startswith("x86_64") else (128, 32)
    return TargetSpec(triple, llvm.get_host_cpu_name(), text, *vectors)


def declared() -> str | None:
    """The name that LAMINA_HOST gives to this machine, None where it says nothing."""
    name = os.environ.get(VARIABLE, "")
    return None if name in ("", NATIVE) else name


def host() -> TargetSpec:
    """The machine that this one is taken for, with one thread and the figures that were measured here.

    Raises UsageError where LAMINA_HOST names none, InputError for a file of figures that is none.
    """
    found = host_without_figures()
    path = measured_file(found)
    return found if path is None else found._replace(figures=_figures_in(path))


def host_without_figures() -> TargetSpec:
    """The same, with what is shipped for the processor's name."""
    name, here = declared(), processor()
    if name is None:
        return here
    if not is_named(name):
        raise UsageError(f"{VARIABLE}: no machine {name!r}", hint=hint_for(name, [NATIVE]))
    found = named(name)
    if kind_of(found) != kind_of(here):
        raise UsageError(f"{VARIABLE}: {name} is no {kind_of(here)}, as this machine is")
    # Objects are linked into this process: the system's part of the triple is not to be chosen.
    return found._replace(triple=here.triple)


def figures_file(machine: TargetSpec) -> Path:
    """The file in which `lamina calibrate` keeps the figures of this machine, taken for one of that name."""
    return default_directory() / "figures" / f"{machine.cpu}-{machine.vector_bits}.txt"


def measured_file(machine: TargetSpec) -> Path | None:
    """The file of the figures of this machine, taken for one of that name: the one that LAMINA_FIGURES names, else that
    of `lamina calibrate`; None where those that are shipped count. Whether there is a cache does not matter."""
    chosen = os.environ.get(FIGURES, "")
    if chosen:
        return None if chosen == SHIPPED else Path(chosen)
    path = figures_file(machine)
    return path if path.is_file() else None


def _figures_in(path: Path) -> str:
    """The figures in a file, as text."""
    from lamina.backends.cpu.figures import Figures

    try:
        text = " ".join(path.read_text("utf-8").split())
    except (OSError, ValueError) as e:
        said = getattr(e, "strerror", None) or "is no text"
        hint = f"{FIGURES} names a file of `lamina calibrate`, or is {SHIPPED}"
        raise InputError(f"cannot read figures: {said}", where=str(path), hint=hint) from None
    Figures.of_text(text, str(path))
    return text


def obstacle(target: TargetSpec) -> str:
    """The reason why code for a target cannot run on this machine, as it is and as declared; empty where it can.

    Counted is what the target says and what LLVM takes its processor, by name, to have.
    """
    signs = {f[1:]: f[0] for f in named(target.cpu).feature_list()} if is_named(target.cpu) else {}
    signs |= {f[1:]: f[0] for f in target.feature_list()}
    wanted = {feature for feature, sign in signs.items() if sign == "+"} - _HINTS
    name = declared()
    machines = [("this machine", processor())]
    if name is not None:
        machines.append((f"this machine, {name} as {VARIABLE} says,", host()))
    for subject, machine in machines:
        if kind_of(target) != kind_of(machine):
            return f"this machine is {kind_of(machine)}"
        missing = wanted.difference(f[1:] for f in machine.feature_list() if f[0] == "+")
        if missing:
            # First what code for vectors needs, then what a processor happens to have.
            told = sorted(missing, key=lambda feature: (not feature.startswith("avx"), feature))
            return f"{subject} lacks {', '.join(told[:4])}"
    return ""


def check_runs_here(target: TargetSpec) -> None:
    """Raise InputError where this machine lacks what the target has: the code would die in the middle of a run."""
    if why := obstacle(target):
        hint = f"{VARIABLE}={NATIVE} takes it as it is" if target.cpu == declared() else "compile with target 'cpu'"
        elsewhere = is_windows(target.triple) or is_macos(target.triple)
        processor = kind_of(target) if elsewhere or target.cpu.startswith("generic") else target.cpu
        raise InputError(f"code for {processor} cannot run here: {why}", hint=hint)


def kind_of(machine: TargetSpec) -> str:
    """The processor and, where that is not Linux, the system."""
    triple = machine.triple
    system = " with Windows" if is_windows(triple) else " with macOS" if is_macos(triple) else ""
    return triple.partition("-")[0] + system
