"""AMD GPUs through LLVM: kernels of the device as assembly, and as a relocatable object with their descriptors.

    code = compile_object(module, "gfx90a")

takes a module after `tir-split-host-device`. What becomes of a kernel on the way is the pass `rocm-tir-to-llvm`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.backends.rocm.compile import compile_device as compile_device
    from lamina.backends.rocm.compile import compile_object as compile_object
    from lamina.backends.rocm.compile import llvm_text as llvm_text

__all__ = ["compile_device", "compile_object", "llvm_text"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lamina.backends.rocm import compile

    return getattr(compile, name)
