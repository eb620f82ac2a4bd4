// RUN: opt-tool %s -p tir-unify-thread-binding --verify-roundtrip | filecheck %s
// The only thread along an axis is the same in every loop of it.

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 1 thread "threadIdx.x" "i" {
    tir.for %k = 0 to 4 "k" {
      %s = tir.alloc "s" scope "local" : memref<1xf32>
      tir.for %j = 0 to 1 thread "threadIdx.x" "j" {
        %v = tir.load %x[%k + %i] : memref<4xf32>
        tir.store %v, %s[%j] : memref<1xf32>
      }
      %w = tir.load %s[%i] : memref<1xf32>
      tir.store %w, %y[%k] : memref<4xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 1 thread "threadIdx.x" "i" {
// CHECK:        tir.for %j = 0 to 1 "j" {
// CHECK-NEXT:     %v = tir.load %x[%k] : memref<4xf32>
// CHECK-NEXT:     tir.store %v, %s[0]
// CHECK:        %w = tir.load %s[0]
