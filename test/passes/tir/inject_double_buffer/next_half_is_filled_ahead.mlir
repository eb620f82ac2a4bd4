// RUN: opt-tool %s -p tir-inject-double-buffer | filecheck %s
// The loop may have no iteration: then nothing is filled ahead of it.

tir.func @f(%n: index, %A: memref<8x4xf32>, %y: memref<8x4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 min [%n] "y.i" {
    %B = tir.alloc "B" scope "global" {double_buffer} : memref<4xf32>
    tir.for %j = 0 to 4 "B.j" {
      %a = tir.load %A[%i, %j] : memref<8x4xf32>
      tir.store %a, %B[%j] : memref<4xf32>
    }
    tir.for %k = 0 to 4 "y.k" {
      %b = tir.load %B[3 - %k] : memref<4xf32>
      tir.store %b, %y[%i, %k] : memref<8x4xf32>
    }
  }
}

// CHECK:      %B = tir.alloc "B" scope "global" : memref<2x4xf32>
// CHECK-NEXT: tir.if [%n - 1 >= 0] {
// CHECK-NEXT:   tir.for %j = 0 to 4 "B.j.next" {
// CHECK-NEXT:     %a = tir.load %A[0, %j] : memref<8x4xf32>
// CHECK-NEXT:     tir.store %a, %B[0, %j] : memref<2x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: tir.for %i = 0 to 8 min [%n] "y.i" {
// CHECK-NEXT:   tir.if [%i * -1 + 6 >= 0, %n + %i * -1 - 2 >= 0] {
// CHECK-NEXT:     tir.for %j = 0 to 4 "B.j.next_1" {
// CHECK-NEXT:       %a = tir.load %A[%i + 1, %j] : memref<8x4xf32>
// CHECK-NEXT:       tir.store %a, %B[(%i + 1) mod 2, %j] : memref<2x4xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %k = 0 to 4 "y.k" {
// CHECK-NEXT:     %b = tir.load %B[%i mod 2, %k * -1 + 3] : memref<2x4xf32>
