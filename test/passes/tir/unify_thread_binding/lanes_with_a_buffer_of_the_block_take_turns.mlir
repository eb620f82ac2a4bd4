// RUN: opt-tool %s -p tir-unify-thread-binding | filecheck %s
// Each lane had a buffer of its own. The block has one, so the lanes come one after the other.

tir.func @f(%x: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 2 thread "blockIdx.x" "b" {
    tir.for %i = 0 to 4 vectorized "i" {
      %s = tir.alloc "s" scope "global" : memref<1xf32>
      %v = tir.load %x[%b, %i] : memref<2x4xf32>
      tir.store %v, %s[0] : memref<1xf32>
      %w = tir.load %s[0] : memref<1xf32>
      tir.store %w, %y[%b, %i] : memref<2x4xf32>
    }
  }
}
// CHECK:      tir.for %b = 0 to 2 thread "blockIdx.x" "b" {
// CHECK-NEXT:   %s = tir.alloc "s" scope "shared" : memref<1xf32>
// CHECK-NEXT:   tir.for %i = 0 to 4 "i" {
