// RUN: opt-tool %s -p tir-unify-thread-binding | filecheck %s

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 parallel "y.i" {
    %v = tir.load %x[%i] : memref<4xf32>
    tir.store %v, %y[%i] : memref<4xf32>
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 4 parallel "y.i" {
// CHECK-NEXT:     %v = tir.load %x[%i] : memref<4xf32>
// CHECK-NEXT:     tir.store %v, %y[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
