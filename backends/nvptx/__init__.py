"""NVIDIA GPUs through LLVM: kernels of the device as PTX.

    text = compile_device(module, "sm_90")

takes a module after `tir-split-host-device`. What becomes of a kernel on the way is the pass `nvptx-tir-to-llvm`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.backends.nvptx.compile import compile_device as compile_device
    from lamina.backends.nvptx.compile import llvm_text as llvm_text

__all__ = ["compile_device", "llvm_text"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lamina.backends.nvptx import compile

    return getattr(compile, name)
