// RUN: opt-tool %s -p tir-unify-thread-binding | filecheck %s
// A kernel whose blocks are named along y has a grid: a shared buffer gets it no other.

tir.func @f(%x: memref<3x4xf32>, %y: memref<3x4xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 3 thread "blockIdx.y" "y.b" {
    %s = tir.alloc "s" scope "shared" : memref<4xf32>
    tir.for %i = 0 to 4 thread "threadIdx.x" "s.i" {
      %v = tir.load %x[%b, %i] : memref<3x4xf32>
      tir.store %v, %s[%i] : memref<4xf32>
    }
    tir.for %j = 0 to 4 thread "threadIdx.x" "y.j" {
      %w = tir.load %s[%j * -1 + 3] : memref<4xf32>
      tir.store %w, %y[%b, %j] : memref<3x4xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f
// CHECK-NOT:     blockIdx.x
// CHECK:         tir.for %b = 0 to 3 thread "blockIdx.y" "y.b" {
// CHECK-NOT:     blockIdx
