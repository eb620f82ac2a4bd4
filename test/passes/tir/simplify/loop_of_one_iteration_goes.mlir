// RUN: opt-tool %s -p tir-simplify | filecheck %s
// Its variable is 0 wherever it stood.

tir.func @f(%X: memref<1x4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 1 "y.i" {
    tir.for %j = 0 to 4 "y.j" {
      %x = tir.load %X[%i, %j] : memref<1x4xf32>
      tir.store %x, %y[%i * 4 + %j] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f(%X: memref<1x4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %j = 0 to 4 "y.j" {
// CHECK-NEXT:     %x = tir.load %X[0, %j] : memref<1x4xf32>
// CHECK-NEXT:     tir.store %x, %y[%j] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
