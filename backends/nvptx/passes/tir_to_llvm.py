"""Kernels of the device become llvm functions for LLVM's NVPTX target.

The loops of threads turn into the registers that tell a thread its number, shared buffers into globals of address
space 3. Pointers of what a kernel only reads are `readonly`. What has no PTX is refused here: LLVM would end the
process. Host functions stay as they are.

Before:
    tir.func @f_kernel0(%x: memref<64xf32>, %y: memref<64xf32>) attributes {device, outputs = 1 : i64} {
      tir.for %t = 0 to 64 thread "threadIdx.x" "y.i" {
        %v = tir.load %x[%t] : memref<64xf32>
        tir.store %v, %y[%t] : memref<64xf32> } }
After:
    llvm.func @f_kernel0(%x: !llvm.ptr {llvm.noalias, llvm.readonly}, %y: !llvm.ptr {llvm.noalias})
        attributes {passthrough = [["nvvm.maxntid", "64,1,1"]], nvvm.kernel} {
      %0 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32 ... }

Assumes `tir-split-host-device` and `tir-vectorize-loop`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from lamina.backends.llvm.device.kernel import lower_kernels
from lamina.backends.nvptx.machine import NVPTX
from lamina.backends.nvptx.machine import nvptx_tir_to_llvm as nvptx_tir_to_llvm
from lamina.passes.base import Context, ModulePass


@dataclass(frozen=True)
class TirToLlvmPass(ModulePass):
    name = "nvptx-tir-to-llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_kernels(op, NVPTX)
