// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s

tir.func @f(%A: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 16 unrolled "y.i" {
    %a = tir.load %A[%i] : memref<16xf32>
    tir.store %a, %y[%i] : memref<16xf32>
  }
}

// CHECK-LABEL: tir.func @f(%A: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 16 unrolled "y.i" {
// CHECK-NEXT:     %a = tir.load %A[%i] : memref<16xf32>
// CHECK-NEXT:     tir.store %a, %y[%i] : memref<16xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
