// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// Eight lanes at once, those of which the condition holds: a masked store.

tir.func @f(%x: memref<8xf32>, %y: memref<6xf32>) {
  %v = tir.load %x[lane] : memref<8xf32>, vector<8xf32>
  tir.store %v, %y[lane] where [lane * -1 + 5 >= 0] : memref<6xf32>, vector<8xf32>
}

// CHECK: tir.store %v, %y[lane] where [lane * -1 + 5 >= 0] : memref<6xf32>, vector<8xf32>
// LLVM: llvm.mlir.constant(dense<[true, true, true, true, true, true, false, false]> : vector<8xi1>)
// LLVM: llvm.intr.masked.store %v, %y, %{{[0-9]+}} {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
