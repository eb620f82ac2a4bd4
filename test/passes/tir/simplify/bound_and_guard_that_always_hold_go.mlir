// RUN: opt-tool %s -p tir-simplify | filecheck %s
// 10 - 2i is at least 4, and i + j at least 0.

tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" {
    tir.for %j = 0 to 4 min [%i * -2 + 10] "y.j" {
      %x = tir.load %X[%i + %j] where [%i + %j >= 0] : memref<8xf32>
      tir.store %x, %y[%i + %j] where [%i + %j <= 7] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 4 "y.i" {
// CHECK-NEXT:     tir.for %j = 0 to 4 "y.j" {
// CHECK-NEXT:       %x = tir.load %X[%i + %j] : memref<8xf32>
// CHECK-NEXT:       tir.store %x, %y[%i + %j] : memref<8xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
