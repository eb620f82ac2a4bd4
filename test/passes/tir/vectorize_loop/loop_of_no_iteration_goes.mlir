// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s

tir.func @f(%A: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 0 vectorized "y.i" {
    %a = tir.load %A[%i] : memref<4xf32>
    tir.store %a, %y[%i] : memref<4xf32>
  }
}

// CHECK:      tir.func @f
// CHECK-NEXT: }
