"""From a module with kernels of the device to PTX."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from lamina.backends.llvm.device.compile import device_code, device_text
from lamina.backends.nvptx.passes.tir_to_llvm import TirToLlvmPass
from lamina.backends.nvptx.target import nvptx_target


def compile_device(module: ModuleOp, arch: str) -> str:
    """The PTX text of all kernels of a module, which is not changed.

    `module` is what `tir-split-host-device` leaves, `arch` an architecture such as `sm_90`. Raises InputError where it
    has no kernels or one of them has no PTX, UsageError for an unknown architecture.
    """
    return device_code(llvm_text(module, arch), nvptx_target(arch), "asm").decode()


def llvm_text(module: ModuleOp, arch: str) -> str:
    """The LLVM assembly of all kernels of a module, which is not changed."""
    return device_text(module, nvptx_target(arch), TirToLlvmPass())


__all__ = ["compile_device", "llvm_text"]
