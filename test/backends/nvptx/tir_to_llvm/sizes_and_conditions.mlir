// RUN: opt-tool %s -p nvptx-tir-to-llvm | filecheck %s
// A size is a number; a condition that differs by thread is a branch.

tir.func @f_kernel0(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64, device} {
  tir.for %b = 0 to min [(%n + 31) floordiv 32] thread "blockIdx.x" "b" {
    tir.for %t = 0 to 32 thread "threadIdx.x" "t" {
      tir.if [%n - %b * 32 - %t - 1 >= 0] {
        %v = tir.load %x[%b * 32 + %t] : memref<?xf32>
        tir.store %v, %y[%b * 32 + %t] : memref<?xf32>
      }
    }
  }
}

// CHECK: llvm.func @f_kernel0(%n: i64, %x: !llvm.ptr {llvm.noalias, llvm.readonly}, %y: !llvm.ptr {llvm.noalias}) attributes {nvvm.kernel, passthrough = ["nounwind", ["nvvm.maxntid", "32,1,1"]]} {
// CHECK-NEXT:   %0 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.ctaid.x"() : () -> i32
// CHECK-NEXT:   %b = llvm.zext %0 : i32 to i64
// CHECK-NEXT:   %1 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
// CHECK-NEXT:   %t = llvm.zext %1 : i32 to i64
// CHECK-NEXT:   %2 = llvm.mlir.constant(-32) : i64
// CHECK-NEXT:   %3 = llvm.mul %b, %2 : i64
// CHECK-NEXT:   %4 = llvm.add %n, %3 : i64
// CHECK-NEXT:   %5 = llvm.mlir.constant(-1) : i64
// CHECK-NEXT:   %6 = llvm.mul %t, %5 : i64
// CHECK-NEXT:   %7 = llvm.add %4, %6 : i64
// CHECK-NEXT:   %8 = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   %9 = llvm.icmp "sge" %7, %8 : i64
// CHECK-NEXT:   %10 = llvm.mlir.constant(32) : i64
// CHECK-NEXT:   %11 = llvm.mul %b, %10 : i64
// CHECK-NEXT:   %12 = llvm.add %11, %t : i64
// CHECK-NEXT:   %13 = llvm.getelementptr %x[%12] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %14 = llvm.mul %b, %10 : i64
// CHECK-NEXT:   %15 = llvm.add %14, %t : i64
// CHECK-NEXT:   %16 = llvm.getelementptr %y[%15] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.cond_br %9, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:
// CHECK-NEXT:   %v = llvm.load %13 {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:   llvm.store %v, %16 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   llvm.br ^bb2
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }
