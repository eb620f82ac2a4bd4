"""GPUs and processors through OpenCL C: kernels as text that a driver compiles, OpenCL 1.2 or later.

    kernels = compile_device(module)

takes a module after `tir-split-host-device`. `lamina.runtime.opencl` runs what it gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.backends.opencl.emit import compile_device as compile_device
    from lamina.backends.opencl.emit import kernel_names as kernel_names

__all__ = ["compile_device", "kernel_names"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lamina.backends.opencl import emit

    return getattr(emit, name)
