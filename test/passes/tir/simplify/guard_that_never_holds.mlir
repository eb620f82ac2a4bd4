// RUN: opt-tool %s -p tir-simplify | filecheck %s
// The load is zero; the store is gone, and with it what only it had used.

tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" {
    %a = tir.load %X[%i] where [%i >= 8] : memref<8xf32>
    tir.store %a, %y[%i] : memref<8xf32>
    %b = tir.load %X[%i] : memref<8xf32>
    tir.store %b, %y[%i] where [%i * 2 == 3] : memref<8xf32>
    tir.for %j = 0 to 8 "y.j" {
      %c = tir.load %X[%j] : memref<8xf32>
      tir.store %c, %y[%j] where [%i >= 4, %i < 4] : memref<8xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 8 "y.i" {
// CHECK-NEXT:   %a = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   tir.store %a, %y[%i] : memref<8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: }
