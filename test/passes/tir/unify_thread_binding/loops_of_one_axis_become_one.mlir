// RUN: opt-tool %s -p tir-unify-thread-binding | filecheck %s
// One after the other, and one within another; the tail of the second becomes a condition.

tir.func @f(%x: memref<7xf32>, %y: memref<7xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 2 thread "blockIdx.x" "y.0" {
    %s = tir.alloc "s" scope "shared" : memref<4xf32>
    tir.for %j = 0 to 4 min [%b * -4 + 7] thread "threadIdx.x" "y.1" {
      tir.for %i = 0 to 4 thread "threadIdx.x" "s.i" {
        %v = tir.load %x[%b * 3 + %i] : memref<7xf32>
        tir.store %v, %s[%i] : memref<4xf32>
      }
      %w = tir.load %s[%j] : memref<4xf32>
      tir.store %w, %y[%b * 4 + %j] : memref<7xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<7xf32>, %y: memref<7xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %b = 0 to 2 thread "blockIdx.x" "y.0" {
// CHECK-NEXT:     %s = tir.alloc "s" scope "shared" : memref<4xf32>
// CHECK-NEXT:     tir.for %j = 0 to 4 thread "threadIdx.x" "y.1" {
// CHECK-NEXT:       tir.if [%b * -4 + 6 >= 0] {
// CHECK-NEXT:         %v = tir.load %x[%b * 3 + %j] : memref<7xf32>
// CHECK-NEXT:         tir.store %v, %s[%j] : memref<4xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.if [%b * -4 + %j * -1 + 6 >= 0] {
// CHECK-NEXT:         %w = tir.load %s[%j] : memref<4xf32>
// CHECK-NEXT:         tir.store %w, %y[%b * 4 + %j] : memref<7xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
