"""Kernels of the device become llvm functions for LLVM's AMDGPU target.

The loops of threads turn into the registers that tell a thread its number, shared buffers into globals of address
space 3, a thread's own into memory of address space 5; the buffers that a kernel takes are in address space 1. Pointers
of what a kernel only reads are `readonly`. What has no instruction is refused here: LLVM would end the process. Host
functions stay as they are.

Before:
    tir.func @f_kernel0(%x: memref<64xf32>, %y: memref<64xf32>) attributes {device, outputs = 1 : i64} {
      tir.for %t = 0 to 64 thread "threadIdx.x" "y.i" {
        %v = tir.load %x[%t] : memref<64xf32>
        tir.store %v, %y[%t] : memref<64xf32> } }
After:
    llvm.func @f_kernel0(%x: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %y: !llvm.ptr<1> {llvm.noalias})
        attributes {passthrough = [["amdgpu-flat-work-group-size", "64,64"]], rocdl.kernel} {
      %0 = llvm.call_intrinsic "llvm.amdgcn.workitem.id.x"() : () -> i32 ... }

Assumes `tir-split-host-device` and `tir-vectorize-loop`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from lamina.backends.llvm.device.kernel import lower_kernels
from lamina.backends.rocm.machine import ROCM
from lamina.backends.rocm.machine import rocm_tir_to_llvm as rocm_tir_to_llvm
from lamina.passes.base import Context, ModulePass


@dataclass(frozen=True)
class RocmTirToLlvmPass(ModulePass):
    name = "rocm-tir-to-llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_kernels(op, ROCM)
