"""The AMD GPUs that kernels are compiled for, by the names of their architectures."""

from __future__ import annotations

from lamina.dialects.target import TargetAttr
from lamina.errors import UsageError

TRIPLE = "amdgcn-amd-amdhsa"

ARCHITECTURES = ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201")
"""The architectures that ROCm runs on and LLVM compiles for."""


def rocm_target(arch: str) -> TargetAttr:
    """The target of an architecture, e.g. `gfx90a`. Raises UsageError for one that is not known."""
    if arch not in ARCHITECTURES:
        raise UsageError(f"no GPU architecture {arch!r}; it is one of {', '.join(ARCHITECTURES)}")
    return TargetAttr.get(TRIPLE, arch, "", vector_bits=128, registers=256)
