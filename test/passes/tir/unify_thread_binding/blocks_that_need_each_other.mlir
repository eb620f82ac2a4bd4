// RUN: opt-tool %s -p tir-unify-thread-binding --verify-roundtrip | filecheck %s
// No block knows when another has stored its element: one does the work of all.

tir.func @f(%x: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>) attributes {outputs = 2 : i64} {
  tir.for %t = 0 to 2 thread "threadIdx.x" "t" {
    tir.for %i = 0 to 8 thread "blockIdx.x" "b.i" {
      %v = tir.load %x[%i] : memref<8xf32>
      tir.store %v, %b[%i] : memref<8xf32>
    }
    tir.for %j = 0 to 8 "c.i" {
      %w = tir.load %b[%j * -1 + 7] : memref<8xf32>
      tir.store %w, %c[%j] : memref<8xf32>
    }
  }
}

// CHECK-NOT:  blockIdx
// CHECK:      tir.for %t = 0 to 2 thread "threadIdx.x" "t" {
// CHECK-NEXT:   tir.if [%t == 0] {
// CHECK-NEXT:     tir.for %i = 0 to 8 "b.i" {
// CHECK:          tir.for %j = 0 to 8 "c.i" {
