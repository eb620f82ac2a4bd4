"""The features of this processor as Linux tells them, under LLVM's names: for processes that have no LLVM."""

from __future__ import annotations

import platform
from pathlib import Path

_SYSTEMS = {"armv7": "unknown-linux-gnueabihf"}
"""The rest of a triple, where it is not `unknown-linux-gnu`."""

_X86 = {
    "64bit": "lm",
    "bmi": "bmi1",
    "crc32": "sse42",
    "lzcnt": "abm",
    "pclmul": "pclmulqdq",
    "prfchw": "3dnowprefetch",
    "rdrnd": "rdrand",
    "sahf": "lahflm",
    "sha": "shani",
    "sse3": "pni",
}
"""Flags of `/proc/cpuinfo` by LLVM's names, without `_`, `-` and `.`, where they are not the same
(Linux, arch/x86/include/asm/cpufeatures.h)."""

_X86_SAME = (
    "adx aes amx-avx512 amx-bf16 amx-complex amx-fp16 amx-fp8 amx-int8 amx-movrs amx-tf32 amx-tile avx avx2 avx512bf16"
    " avx512bitalg avx512bw avx512cd avx512dq avx512f avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni"
    " avx512vp2intersect avx512vpopcntdq avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi2 cmov cmpccxadd cx16"
    " cx8 f16c fma fma4 fxsr gfni mmx movbe movrs popcnt raoint sha512 sm3 sm4 sse sse2 sse4.1 sse4.2 sse4a ssse3 tbm"
    " vaes vpclmulqdq xop xsave"
).split()

_X86_UNCHOSEN = (
    "avx10.1 cldemote clflushopt clwb clzero enqcmd fsgsbase hreset invpcid kl lwp movdir64b movdiri mwaitx pconfig"
    " pku prefetchi ptwrite rdpid rdpru rdseed rtm serialize sgx shstk tsxldtrk uintr usermsr waitpkg wbnoinvd widekl"
    " xsavec xsaveopt xsaves"
).split()
"""Features whose instructions no code generator chooses (those of systems, of caches, of transactions), and AVX10.1,
which is features of AVX-512 under one name: it does not matter whether they are there, and `/proc/cpuinfo` does not
tell it of all."""

_OTHERS = {
    "aarch64": {
        **{
            "fp-armv8": "fp",
            "neon": "asimd",
            "crc": "crc32",
            "lse": "atomics",
            "fullfp16": "asimdhp",
            "rdm": "asimdrdm",
        },
        **{"dotprod": "asimddp", "bf16": "bf16", "i8mm": "i8mm", "sve": "sve", "sve2": "sve2", "aes": "aes"},
    },
    "armv7": {"neon": "neon", "vfp4": "vfpv4"},
}
"""The same for Arm (Linux, arch/arm64/kernel/cpuinfo.c and arch/arm/kernel/setup.c)."""


def system_triple() -> str:
    """The triple of this machine."""
    processor = "armv7" if platform.machine().startswith("armv7") else platform.machine()
    return f"{processor}-{_SYSTEMS.get(processor, f'unknown-{platform.system().lower()}-gnu')}"


def system_features(root: Path = Path("/")) -> frozenset[str]:
    """The features of this processor; `root` is where the files of the system lie."""
    processor = system_triple().partition("-")[0]
    lines = _lines(root / "proc/cpuinfo")
    if processor == "riscv64":
        # rv64imafdcv_zicsr_...: letters, then names.
        first, *names = lines.get("isa", "").split("_")
        return frozenset([*first.removeprefix("rv64"), *names])
    if processor == "x86_64":
        flags = {flag.replace("_", "") for flag in lines.get("flags", "").split()}
        told = {**{name: name.replace("-", "").replace(".", "") for name in _X86_SAME}, **_X86}
        return frozenset(name for name, flag in told.items() if flag in flags).union(_X86_UNCHOSEN)
    flags = set(lines.get("Features", "").split())
    return frozenset(name for name, flag in _OTHERS.get(processor, {}).items() if flag in flags)


def _lines(path: Path) -> dict[str, str]:
    """The values of a file of lines `name : value`, the first of each name."""
    found: dict[str, str] = {}
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        found.setdefault(name.strip(), value.strip())
    return found
