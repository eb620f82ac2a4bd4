// RUN: opt-tool %s -p tir-skip-padding | filecheck %s
// Nothing is left out of a module in which no load has a guard: even indices that are values are written as they were.

// CHECK:      tir.for %i = 0 to 8 "Y.i" {
// CHECK-NEXT:   %v = arith.index_cast %i : index to i64
// CHECK-NEXT:   %w = tir.load %X[%i] : memref<8xi64>
tir.func @f(%X: memref<8xi64>, %Y: memref<8xi64>) {
  tir.for %i = 0 to 8 "Y.i" {
    %v = arith.index_cast %i : index to i64
    %w = tir.load %X[%i] : memref<8xi64>
    %s = arith.addi %v, %w : i64
    tir.store %s, %Y[%i] : memref<8xi64>
  }
}
