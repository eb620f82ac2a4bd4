// RUN: opt-tool %s -p tir-transpose-tiles | filecheck %s
// Rows are read before the first iteration's ops: what computes their index, and a condition, stands before them.
// The iterations behind the tiles use the same values.

tir.func @f(%X: memref<3x4x9xf32>, %N: memref<1xi64>, %Y: memref<9x4xf32>) {
  tir.for %x = 0 to 9 "Y.x" {
    %one = arith.constant 1 : i64
    %read = tir.load %N[0] : memref<1xi64>
    %sum = arith.addi %read, %one : i64
    %at = arith.index_cast %sum : i64 to index
    %v = tir.load %X[%at, lane, %x] where [2 - %at >= 0] : memref<3x4x9xf32>, vector<4xf32>
    tir.store %v, %Y[%x, lane] : memref<9x4xf32>, vector<4xf32>
  }
}

// CHECK:      %read = tir.load %N[0]
// CHECK-NEXT: %sum = arith.addi %read, %one
// CHECK-NEXT: %at = arith.index_cast %sum
// CHECK-NEXT: tir.for %x = 0 to 2 "Y.x.tile" {
// CHECK-NEXT:   tir.load %X[%at, 0, %x * 4 + lane] where [%at * -1 + 2 >= 0]
// CHECK:        tir.shuffle
// CHECK-NOT:    tir.load %N
// CHECK:      tir.load %X[%at, lane, 8]
