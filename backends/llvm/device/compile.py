"""From a module with kernels of a GPU to LLVM assembly, and on to its machine code in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lamina.backends.llvm.emit import emit_module
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
)
"""Passes on a kernel after `tir-split-host-device`, before the stair of its machine."""


class DeviceCodeError(InternalError):
    """LLVM refused a kernel, or ended while it compiled one. Always a fault of ours."""


def device_text(module: ModuleOp, target: TargetAttr, stair: ModulePass) -> str:
    """The LLVM assembly of all kernels of a module, which is not changed. Raises InputError."""
    device = device_module(module)
    device.attributes[TARGET] = target
    for p in (*PASSES, stair):
        p.apply(Context(), device)
    return emit_module(device)


def device_module(module: ModuleOp) -> ModuleOp:
    """A copy of the kernels of a module. Raises InputError where there is none."""
    kernels = [op.clone() for op in module.ops if isinstance(op, FuncOp) and DEVICE in op.attributes]
    if not kernels:
        raise InputError("the module has no kernels; bind loops to threads and run tir-split-host-device", op=module)
    return ModuleOp(list(kernels))


def device_code(text: str, target: TargetAttr, kind: str) -> bytes:
    """The code of LLVM assembly: `asm`, a text, or `obj`, an object. Raises DeviceCodeError."""
    machine = [kind, target.cpu.data, target.features.data, target.triple.data]
    done = subprocess.run(
        [sys.executable, "-m", "lamina.backends.llvm.device.worker", *machine],
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise DeviceCodeError(f"LLVM ends with status {done.returncode} on a kernel for {target.cpu.data}: {words[:4]}")
    return done.stdout


__all__ = ["DeviceCodeError", "device_code", "device_module", "device_text"]
