"""From a module with kernels of the device to PTX."""

from __future__ import annotations

import subprocess
import sys

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lamina.backends.llvm.emit import emit_module
from lamina.backends.nvptx.passes.tir_to_llvm import TirToLlvmPass
from lamina.backends.nvptx.target import nvptx_target
from lamina.dialects.target import TARGET, TargetAttr
from lamina.dialects.tir.launch import DEVICE
from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError, InternalError
from lamina.passes.base import ModulePass
from lamina.passes.tir.arithmetic.expand_math import ExpandMathPass
from lamina.passes.tir.arithmetic.fuse_multiply_add import FuseMultiplyAddPass
from lamina.passes.tir.loops.simplify import SimplifyPass
from lamina.passes.tir.loops.unroll_loop import UnrollLoopPass
from lamina.passes.tir.loops.vectorize_loop import VectorizeLoopPass

PASSES: tuple[ModulePass, ...] = (
    SimplifyPass(),
    VectorizeLoopPass(),
    UnrollLoopPass(),
    ExpandMathPass(),
    FuseMultiplyAddPass(),
    TirToLlvmPass(),
)
"""Passes on a kernel after `tir-split-host-device`."""


class PtxError(InternalError):
    """LLVM refused a kernel, or ended while it compiled one. Always a fault of ours."""


def compile_device(module: ModuleOp, arch: str) -> str:
    """The PTX text of all kernels of a module, which is not changed.

    `module` is what `tir-split-host-device` leaves, `arch` an architecture such as `sm_90`. Raises InputError where it
    has no kernels or one of them has no PTX, UsageError for an unknown architecture.
    """
    return assemble(llvm_text(module, arch), nvptx_target(arch))


def llvm_text(module: ModuleOp, arch: str) -> str:
    """The LLVM assembly of all kernels of a module, which is not changed."""
    device = device_module(module)
    device.attributes[TARGET] = nvptx_target(arch)
    for p in PASSES:
        p.apply(Context(), device)
    return emit_module(device)


def device_module(module: ModuleOp) -> ModuleOp:
    """A copy of the kernels of a module. Raises InputError where there is none."""
    kernels = [op.clone() for op in module.ops if isinstance(op, FuncOp) and DEVICE in op.attributes]
    if not kernels:
        raise InputError("the module has no kernels; bind loops to threads and run tir-split-host-device", op=module)
    return ModuleOp(list(kernels))


def assemble(text: str, target: TargetAttr) -> str:
    """PTX from LLVM assembly, in a process of its own. Raises PtxError."""
    machine = [target.cpu.data, target.features.data, target.triple.data]
    done = subprocess.run(
        [sys.executable, "-m", "lamina.backends.nvptx.ptx_worker", *machine],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        words = done.stderr.strip().splitlines()
        raise PtxError(f"LLVM ends with status {done.returncode} on a kernel for {target.cpu.data}: {words[:4]}")
    return done.stdout


__all__ = ["PtxError", "assemble", "compile_device", "device_module", "llvm_text"]
