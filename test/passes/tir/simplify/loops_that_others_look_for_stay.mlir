// RUN: opt-tool %s -p tir-simplify | filecheck %s
// Threads are told apart by their loops, and an annotation is read by a later pass.

tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "y.b" {
    tir.for %t = 0 to 8 thread "threadIdx.x" "y.t" {
      tir.for %i = 0 to 1 "y.i" attributes {"pragma_unroll_explicit" = 1 : i64} {
        %x = tir.load %X[%t + %i] : memref<8xf32>
        tir.store %x, %y[%t + %i] : memref<8xf32>
      }
    }
  }
}

// CHECK:      tir.for %b = 0 to 1 thread "blockIdx.x" "y.b" {
// CHECK-NEXT:   tir.for %t = 0 to 8 thread "threadIdx.x" "y.t" {
// CHECK-NEXT:     tir.for %i = 0 to 1 "y.i" attributes {{.*}} {
// CHECK-NEXT:       %x = tir.load %X[%t + %i] : memref<8xf32>
// CHECK-NEXT:       tir.store %x, %y[%t + %i] : memref<8xf32>
