"""The GPUs that kernels are compiled for, by the names of their architectures."""

from __future__ import annotations

from lamina.dialects.target import TargetAttr
from lamina.errors import UsageError

TRIPLE = "nvptx64-nvidia-cuda"

PTX_VERSION = {
    "sm_75": 63,
    "sm_80": 70,
    "sm_86": 71,
    "sm_89": 78,
    "sm_90": 78,
    "sm_90a": 80,
    "sm_100": 86,
    "sm_100a": 86,
    "sm_120": 87,
}
"""The oldest version of PTX that knows each architecture, ten times."""


def nvptx_target(arch: str) -> TargetAttr:
    """The target of an architecture, e.g. `sm_90`. Raises UsageError for one that is not known."""
    if arch not in PTX_VERSION:
        raise UsageError(f"no GPU architecture {arch!r}; it is one of {', '.join(PTX_VERSION)}")
    return TargetAttr.get(TRIPLE, arch, f"+ptx{PTX_VERSION[arch]}", vector_bits=128, registers=255)
