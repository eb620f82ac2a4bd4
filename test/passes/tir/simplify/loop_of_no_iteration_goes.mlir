// RUN: opt-tool %s -p tir-simplify | filecheck %s

tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %x = tir.load %X[0] : memref<4xf32>
  tir.for %i = 0 to 0 "y.i" {
    tir.store %x, %y[%i] : memref<4xf32>
  }
  tir.store %x, %y[1] : memref<4xf32>
}

// CHECK-LABEL: tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %x = tir.load %X[0] : memref<4xf32>
// CHECK-NEXT:   tir.store %x, %y[1] : memref<4xf32>
// CHECK-NEXT: }
