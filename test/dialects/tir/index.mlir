// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// An index as a value: its vector form counts the lanes.

tir.func @f(%y: memref<8xi32>) {
  tir.for %i = 0 to 8 "y.i" {
    %n = tir.index [%i * 3 + 1] : index
    %v = arith.index_cast %n : index to i32
    tir.store %v, %y[%i] : memref<8xi32>
  }
}

// CHECK: %n = tir.index [%i * 3 + 1] : index
// LLVM: %{{[0-9]+}} = llvm.mul %i, %{{[0-9]+}} : i64
// LLVM: %{{[0-9]+}} = llvm.add %{{[0-9]+}}, %{{[0-9]+}} : i64
// LLVM: %v = llvm.trunc %{{[0-9]+}} : i64 to i32
