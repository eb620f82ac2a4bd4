// RUN: opt-tool %s -p nvptx-tir-to-llvm | filecheck %s
// Loops of threads become the registers that tell a thread its number; what is only read is readonly.

tir.func @f_kernel0(%x: memref<128xf32>, %y: memref<128xf32>) attributes {device} {
  tir.for %b = 0 to 2 thread "blockIdx.x" "y.0" {
    tir.for %t = 0 to 64 thread "threadIdx.x" "y.1" {
      %v = tir.load %x[%b * 64 + %t] : memref<128xf32>
      tir.store %v, %y[%b * 64 + %t] : memref<128xf32>
    }
  }
}

// CHECK:      llvm.func @f_kernel0(%x: !llvm.ptr {llvm.noalias, llvm.readonly}, %y: !llvm.ptr {llvm.noalias})
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: ["nvvm.maxntid", "64,1,1"]
// CHECK-NEXT: [[B:%.+]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.ctaid.x"() : () -> i32
// CHECK-NEXT: %b = llvm.zext [[B]] : i32 to i64
// CHECK-NEXT: [[T:%.+]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
// CHECK-NEXT: %t = llvm.zext [[T]] : i32 to i64
// CHECK:      %v = llvm.load
// CHECK-NEXT: llvm.store %v
// CHECK-NOT:  llvm.br
