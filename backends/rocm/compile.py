"""From a module with kernels of the device to assembly for AMD GPUs, and to an object."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from lamina.backends.llvm.device.compile import device_code, device_text
from lamina.backends.rocm.passes.tir_to_llvm import RocmTirToLlvmPass
from lamina.backends.rocm.target import rocm_target


def compile_device(module: ModuleOp, arch: str) -> str:
    """The assembly of all kernels of a module, which is not changed.

    `module` is what `tir-split-host-device` leaves, `arch` an architecture such as `gfx90a`. Raises InputError where it
    has no kernels or one of them has no code, UsageError for an unknown architecture.
    """
    return device_code(llvm_text(module, arch), rocm_target(arch), "asm").decode()


def compile_object(module: ModuleOp, arch: str) -> bytes:
    """The same as a relocatable object of ELF: of each kernel its code, and its descriptor by the name `<kernel>.kd`.

    A linker makes of it what ROCm loads: `ld.lld -shared`.
    """
    return device_code(llvm_text(module, arch), rocm_target(arch), "obj")


def llvm_text(module: ModuleOp, arch: str) -> str:
    """The LLVM assembly of all kernels of a module, which is not changed."""
    return device_text(module, rocm_target(arch), RocmTirToLlvmPass())


__all__ = ["compile_device", "compile_object", "llvm_text"]
