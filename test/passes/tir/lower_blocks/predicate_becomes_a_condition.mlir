// RUN: opt-tool %s -p tir-lower-blocks | filecheck %s
// The init keeps what the predicate says of spatial loops. A condition that always holds is none.

tir.func @f(%n: index, %X: memref<4x9xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %k = 0 to 9 reduction "y.k" {
    tir.for %i = 0 to 4 "y.i" {
      tir.block "y" where [%n - %i - 1 >= 0, 7 - %k >= 0, %k + 1 >= 0] init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%i] : memref<4xf32>
      } do {
        %acc = tir.load %y[%i] : memref<4xf32>
        %x = tir.load %X[%i, %k] : memref<4x9xf32>
        %s = arith.addf %acc, %x : f32
        tir.store %s, %y[%i] : memref<4xf32>
      }
    }
  }
}

// CHECK:      tir.for %i = 0 to 4 "y.i.init" {
// CHECK-NEXT:   tir.if [%n + %i * -1 - 1 >= 0] {
// CHECK-NEXT:     %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     tir.store %zero, %y[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: tir.for %k = 0 to 9 reduction "y.k" {
// CHECK-NEXT:   tir.for %i = 0 to 4 "y.i" {
// CHECK-NEXT:     tir.if [%n + %i * -1 - 1 >= 0, %k * -1 + 7 >= 0] {
// CHECK-NEXT:       %acc = tir.load %y[%i] : memref<4xf32>
