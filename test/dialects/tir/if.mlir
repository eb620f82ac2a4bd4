// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// Statements that run only where all conditions hold.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    tir.if [%i - 2 >= 0] {
      %v = tir.load %x[%i - 2] : memref<8xf32>
      tir.store %v, %y[%i] : memref<8xf32>
    }
    tir.if [%i * -1 + 1 >= 0] {
      %zero = arith.constant 0.0 : f32
      tir.store %zero, %y[%i] : memref<8xf32>
    }
  }
}

// CHECK: tir.if [%i - 2 >= 0]
// LLVM: %{{[0-9]+}} = llvm.icmp "sge" %i, %{{[0-9]+}} : i64
// LLVM: llvm.cond_br %{{[0-9]+}}, ^bb2, ^bb3
// LLVM: llvm.store %v, %{{[0-9]+}} {alignment = 4 : i64} : f32, !llvm.ptr
