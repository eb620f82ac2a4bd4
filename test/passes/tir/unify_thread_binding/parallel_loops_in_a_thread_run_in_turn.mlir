// RUN: opt-tool %s -p tir-unify-thread-binding,tir-thread-sync | filecheck %s
// A thread has no others to run iterations for it, and all threads may wait within the loop.

tir.func @f(%x: memref<3x4xf32>, %y: memref<3x4xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<4xf32>
    tir.for %j = 0 to 3 parallel "j" {
      tir.for %i = 0 to 4 thread "threadIdx.x" "s.i" {
        %v = tir.load %x[%j, %i] : memref<3x4xf32>
        tir.store %v, %s[%i] : memref<4xf32>
      }
      tir.for %k = 0 to 4 thread "threadIdx.x" "y.k" {
        %w = tir.load %s[%k * -1 + 3] : memref<4xf32>
        tir.store %w, %y[%j, %k] : memref<3x4xf32>
      }
    }
  }
}

// CHECK:      tir.for %j = 0 to 3 "j" {
// CHECK:        tir.barrier
// CHECK:        tir.store %v, %s[%i] : memref<4xf32>
// CHECK:        tir.barrier
