"""What a test needs of this machine, by name: features (`avx512vnni`) or all that a machine has (`x86-64-v4`).

A test that runs such code calls `needs`, or bears the mark `needs("avx512vnni")`; elsewhere it is skipped, and the
reason names what is lacking. What can be seen in a text, or in an interpreter, needs nothing.
"""

from __future__ import annotations

import os

import pytest

from lamina.backends.cpu.machines import PROCESSORS, declared, host, is_named, named, obstacle
from lamina.errors import LaminaError
from lamina.ir.targets import check_host

_OPENBLAS = {"x86-64": "Core2", "x86-64-v2": "Nehalem", "x86-64-v3": "Haswell", "x86-64-v4": "SkylakeX"}
_ONEDNN = {
    "avx2": "AVX2",
    "avxvnni": "AVX2_VNNI",
    "avx512f": "AVX512_CORE",
    "avx512vnni": "AVX512_CORE_VNNI",
    "avx512bf16": "AVX512_CORE_BF16",
    "avx512fp16": "AVX512_CORE_FP16",
    "amx-int8": "AVX512_CORE_AMX",
}
"""oneDNN's instruction sets by the feature that the largest of them is taken for."""
_NUMPY = {"avx2": "X86_V3", "avx512f": "X86_V4", "avx512vbmi2": "AVX512_ICL", "avx512fp16": "AVX512_SPR"}
"""NumPy's by what each of them needs."""


def lacking(*names: str) -> list[str]:
    """Those of the features and machines that this machine has not; of `avx512vnni or avxvnni` one is enough."""
    here = set(host().feature_list())

    def is_here(name: str) -> bool:
        return not obstacle(named(name)) if is_named(name) else f"+{name}" in here

    return [n for n in names if not any(map(is_here, n.split(" or ")))]


def needs(*names: str) -> None:
    """Skip the test where this machine lacks a feature, or what a machine has."""
    if missing := lacking(*names):
        reasons = [f"{n}: {obstacle(named(n))}" if is_named(n) else f"this machine lacks {n}" for n in missing]
        pytest.skip("; ".join(reasons))


def hide_from_others() -> None:
    """Let NumPy, OpenBLAS and oneDNN take this machine for what LAMINA_HOST declares, before they are loaded.

    Ends the run where this machine cannot be taken for that.
    """
    name = declared()
    if name is None:
        return
    try:
        check_host(host())
    except LaminaError as error:
        pytest.exit(str(error), returncode=error.exit_status)
    level = PROCESSORS.get(name, name)
    os.environ["OPENBLAS_CORETYPE"] = _OPENBLAS[level]
    os.environ["ONEDNN_MAX_CPU_ISA"] = ["SSE41", *(isa for feature, isa in _ONEDNN.items() if not lacking(feature))][-1]
    os.environ["NPY_DISABLE_CPU_FEATURES"] = " ".join(group for feature, group in _NUMPY.items() if lacking(feature))
