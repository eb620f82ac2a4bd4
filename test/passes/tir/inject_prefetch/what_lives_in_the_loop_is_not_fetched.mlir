// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s
// A buffer of this iteration is not that of a later one.

tir.func @f(%A: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" attributes {prefetch = [{tensor = "B", offset = 1 : i64}]} {
    %B = tir.alloc "B" scope "global" : memref<1xf32>
    %a = tir.load %A[%i] : memref<8xf32>
    tir.store %a, %B[0] : memref<1xf32>
    %b = tir.load %B[0] : memref<1xf32>
    tir.store %b, %y[%i] : memref<8xf32>
  }
}

// CHECK:     tir.for %i = 0 to 8 "y.i" {
// CHECK-NOT: prefetch
