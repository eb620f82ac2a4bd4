// RUN: opt-tool %s -p tir-unify-thread-binding --verify-roundtrip | filecheck %s
// Each thread has a result of its own that needs all of the inner loop: it runs that loop whole.

tir.func @f(%x: memref<4x4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    tir.for %i = 0 to 4 thread "threadIdx.x" "y.i" {
      %s = tir.alloc "s" scope "local" : memref<4xf32>
      tir.for %j = 0 to 4 thread "threadIdx.x" "s.j" {
        %v = tir.load %x[%i, %j] : memref<4x4xf32>
        tir.store %v, %s[%j] : memref<4xf32>
      }
      %w = tir.load %s[3] : memref<4xf32>
      tir.store %w, %y[%i] : memref<4xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 4 thread "threadIdx.x" "y.i" {
// CHECK-NEXT:   %s = tir.alloc "s" scope "local" : memref<4xf32>
// CHECK-NEXT:   tir.for %j = 0 to 4 "s.j" {
// CHECK-NEXT:     %v = tir.load %x[%i, %j] : memref<4x4xf32>
