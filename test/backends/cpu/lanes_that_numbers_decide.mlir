// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Of three unrolled vectors the first has one idle lane, a mask that is a constant; the second has none and needs no
// mask; the third has idle lanes only, and is zero.

tir.func @f(%X: memref<32xf32>, %Y: memref<48xf32>) attributes {outputs = 1 : i64} {
  tir.for %k = 0 to 3 unrolled "Y.k" {
    %x = tir.load %X[%k * 16 + lane - 1] where [%k * 16 + lane - 1 >= 0, %k * -64 + lane * -1 + 79 >= 0] : memref<32xf32>, vector<16xf32>
    tir.store %x, %Y[%k * 16 + lane] : memref<48xf32>, vector<16xf32>
  }
}

// CHECK:      llvm.mlir.constant(dense<[false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]> : vector<16xi1>)
// CHECK-NOT:  llvm.icmp
// CHECK:      llvm.intr.masked.load
// CHECK-NOT:  llvm.intr.masked.load
// CHECK:      llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT:  llvm.load
// CHECK:      llvm.return
