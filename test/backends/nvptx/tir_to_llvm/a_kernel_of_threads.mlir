// RUN: opt-tool %s -p nvptx-tir-to-llvm | filecheck %s
// Loops of threads are registers of the machine, shared memory is a global, and the host's function stays.

tir.func @f_kernel0(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64, device} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<64xf32>
    tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
      %v = tir.load %x[%t] : memref<64xf32>
      tir.store %v, %s[%t] : memref<64xf32>
      tir.barrier "shared"
      %w = tir.load %s[%t * -1 + 63] : memref<64xf32>
      tir.store %w, %y[%t] : memref<64xf32>
    }
  }
}
tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
  tir.launch @f_kernel0 grid [1] block [64] (%x, %y) : memref<64xf32>, memref<64xf32>
}

// CHECK: llvm.mlir.global internal @f_kernel0.s.0() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<64 x f32> {
// CHECK-NEXT:   %0 = llvm.mlir.poison : !llvm.array<64 x f32>
// CHECK-NEXT:   llvm.return %0 : !llvm.array<64 x f32>
// CHECK-NEXT: }
// CHECK-NEXT: llvm.func @f_kernel0(%x: !llvm.ptr {llvm.noalias, llvm.readonly}, %y: !llvm.ptr {llvm.noalias}) attributes {nvvm.kernel, passthrough = ["nounwind", ["nvvm.maxntid", "64,1,1"]]} {
// CHECK-NEXT:   %1 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.ctaid.x"() : () -> i32
// CHECK-NEXT:   %b = llvm.zext %1 : i32 to i64
// CHECK-NEXT:   %2 = llvm.mlir.addressof @f_kernel0.s.0 : !llvm.ptr<3>
// CHECK-NEXT:   %3 = llvm.addrspacecast %2 : !llvm.ptr<3> to !llvm.ptr
// CHECK-NEXT:   %4 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
// CHECK-NEXT:   %t = llvm.zext %4 : i32 to i64
// CHECK-NEXT:   %5 = llvm.getelementptr %x[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %6 = llvm.getelementptr %3[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %7 = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   %8 = llvm.mlir.constant(-1) : i64
// CHECK-NEXT:   %9 = llvm.mul %t, %8 : i64
// CHECK-NEXT:   %10 = llvm.getelementptr %3[%9] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %11 = llvm.getelementptr %y[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %v = llvm.load %5 {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:   llvm.store %v, %6 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%7) : (i32) -> ()
// CHECK-NEXT:   %12 = llvm.getelementptr %10[63] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:   %w = llvm.load %12 {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:   llvm.store %w, %11 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }
// CHECK-LABEL: tir.func @f(%x_1: memref<64xf32>, %y_1: memref<64xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.launch @f_kernel0 grid [1] block [64] (%x_1, %y_1) : memref<64xf32>, memref<64xf32>
// CHECK-NEXT: }
