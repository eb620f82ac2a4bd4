// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// Its lanes lie anywhere: they are taken one by one.

tir.func @f(%I: memref<4xindex>, %A: memref<9xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 vectorized "y.i" {
    %n = tir.load %I[%i] : memref<4xindex>
    %a = tir.load %A[%n] where [%n >= 0, %n <= 8] : memref<9xf32>
    tir.store %a, %y[%i] : memref<4xf32>
  }
}

// CHECK-LABEL: tir.func @f(%I: memref<4xindex>, %A: memref<9xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 4 unrolled "y.i" {
// CHECK-NEXT:     %n = tir.load %I[%i] : memref<4xindex>
// CHECK-NEXT:     %a = tir.load %A[%n] where [%n >= 0, %n * -1 + 8 >= 0] : memref<9xf32>
// CHECK-NEXT:     tir.store %a, %y[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
