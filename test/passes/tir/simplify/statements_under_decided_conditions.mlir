// RUN: opt-tool %s -p tir-simplify | filecheck %s
// The first always runs, the second never, the third under what is left of its conditions.

tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" {
    %x = tir.load %X[%i] : memref<8xf32>
    tir.if [%i >= 0, %i <= 7] {
      tir.store %x, %y[%i] : memref<8xf32>
    }
    tir.if [%i floordiv 4 == 2] {
      tir.store %x, %y[7] : memref<8xf32>
    }
    tir.if [%i floordiv 4 >= 1, %i < 8, %i >= 2] {
      tir.store %x, %y[%i mod 4] : memref<8xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 8 "y.i" {
// CHECK-NEXT:   %x = tir.load %X[%i] : memref<8xf32>
// CHECK-NEXT:   tir.store %x, %y[%i] : memref<8xf32>
// CHECK-NEXT:   tir.if [%i - 4 >= 0] {
// CHECK-NEXT:     tir.store %x, %y[%i - 4] : memref<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
