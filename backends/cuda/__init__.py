"""NVIDIA GPUs through CUDA C: kernels and the host code that launches them, as text for nvcc or NVRTC.

    kernels = compile_device(module, "sm_90")
    program = compile_module(module, "sm_90")

take a module after `tir-split-host-device`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.backends.cuda.emit import compile_device as compile_device
    from lamina.backends.cuda.emit import compile_module as compile_module

__all__ = ["compile_device", "compile_module"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lamina.backends.cuda import emit

    return getattr(emit, name)
