// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-roundtrip | filecheck %s
// What is no sum of terms has no parts: one thread runs the loop.

tir.func @f(%X: memref<4x2xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 thread "blockIdx.x" "y.i" {
    tir.for %l = 0 to 2 thread "threadIdx.x" reduction "y.k" {
      tir.block "y" init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%i] : memref<4xf32>
      } do {
      }
    }
  }
}

// CHECK:      tir.for %i = 0 to 4 thread "blockIdx.x" "y.i" {
// CHECK-NEXT:   tir.for %l = 0 to 2 reduction "y.k" {
// CHECK-NEXT:     tir.block "y" init {
