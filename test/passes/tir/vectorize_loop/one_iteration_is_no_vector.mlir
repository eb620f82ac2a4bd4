// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// A reduction of one term may be vectorized: there are no lanes that would all store to one element.

tir.func @f(%x: memref<1xf32>, %y: memref<1xf32>) attributes {outputs = 1 : i64} {
  tir.for %k = 0 to 1 vectorized reduction "y.k" {
    %a = tir.load %y[0] : memref<1xf32>
    %b = tir.load %x[%k] : memref<1xf32>
    %c = arith.addf %a, %b : f32
    tir.store %c, %y[0] : memref<1xf32>
  }
}

// CHECK:      tir.for %k = 0 to 1 unrolled reduction "y.k" {
// CHECK-NEXT:   %a = tir.load %y[0] : memref<1xf32>
