// RUN: opt-tool %s -p tir-hoist-expression | filecheck %s

tir.func @f(%A: memref<4xf32>, %X: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {outputs = 1 : i64} {
  tir.for %j = 0 to 4 "y.j" {
    tir.for %i = 0 to 8 "y.i" {
      %two = arith.constant 2.0 : f32
      %a = tir.load %A[%j] : memref<4xf32>
      %b = arith.mulf %a, %two : f32
      %x = tir.load %X[%j, %i] : memref<4x8xf32>
      %s = arith.mulf %b, %x : f32
      tir.store %s, %y[%j, %i] : memref<4x8xf32>
    }
  }
}

// CHECK:      %two = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: tir.for %j = 0 to 4 "y.j" {
// CHECK-NEXT:   %a = tir.load %A[%j] : memref<4xf32>
// CHECK-NEXT:   %b = arith.mulf %a, %two : f32
// CHECK-NEXT:   tir.for %i = 0 to 8 "y.i" {
// CHECK-NEXT:     %x = tir.load %X[%j, %i] : memref<4x8xf32>
// CHECK-NEXT:     %s = arith.mulf %b, %x : f32
