// RUN: opt-tool %s -p tir-unroll-loop | filecheck %s
// The inner loop has two stores in all, the outer one eight, more than its pragma allows.

tir.func @f(%X: memref<4x2xf32>, %y: memref<4x2xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" attributes {pragma_auto_unroll_max_step = 4 : i64, pragma_unroll_explicit = 1 : i64} {
    tir.for %k = 0 to 2 "y.k" {
      %x = tir.load %X[%i, %k] : memref<4x2xf32>
      tir.store %x, %y[%i, %k] : memref<4x2xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 4 "y.i" {
// CHECK-NEXT:   %x = tir.load %X[%i, 0] : memref<4x2xf32>
// CHECK-NEXT:   tir.store %x, %y[%i, 0] : memref<4x2xf32>
// CHECK-NEXT:   %x_1 = tir.load %X[%i, 1] : memref<4x2xf32>
// CHECK-NEXT:   tir.store %x_1, %y[%i, 1] : memref<4x2xf32>
// CHECK-NEXT: }
