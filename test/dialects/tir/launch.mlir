// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p nvptx-tir-to-llvm | filecheck %s --check-prefix NVPTX
// The host part of a kernel starts the device part on a grid of blocks.

tir.func @reverse(%x: memref<128xf32>, %y: memref<128xf32>) {
  tir.launch @reverse_kernel0 grid [2] block [64] (%x, %y) : memref<128xf32>, memref<128xf32>
}
tir.func @reverse_kernel0(%x: memref<128xf32>, %y: memref<128xf32>) attributes {device} {
  tir.for %b = 0 to 2 thread "blockIdx.x" "y.0" {
    tir.for %t = 0 to 64 thread "threadIdx.x" "y.1" {
      %v = tir.load %x[%b * -64 + %t * -1 + 127] : memref<128xf32>
      tir.store %v, %y[%b * 64 + %t] : memref<128xf32>
    }
  }
}

// CHECK: tir.launch @reverse_kernel0 grid [2] block [64] (%x, %y) : memref<128xf32>, memref<128xf32>

// NVPTX: tir.launch @reverse_kernel0
// NVPTX: llvm.func @reverse_kernel0(%x: !llvm.ptr {llvm.noalias, llvm.readonly}, %y: !llvm.ptr {llvm.noalias})
// NVPTX: llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.ctaid.x"() : () -> i32
// NVPTX: llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
