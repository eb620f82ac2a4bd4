// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-roundtrip | filecheck %s
// The loop of threads goes into the one that indexes the result: each result has its parts.

tir.func @f(%X: memref<4x6xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %k = 0 to 2 thread "threadIdx.x" reduction "y.k.0" {
    tir.for %l = 0 to 3 reduction "y.k.1" {
      tir.for %i = 0 to 4 "y.i" {
        tir.block "y" init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%i] : memref<4xf32>
        } do {
          %s = tir.load %y[%i] : memref<4xf32>
          %x = tir.load %X[%i, %k * 3 + %l] : memref<4x6xf32>
          %t = arith.addf %s, %x : f32
          tir.store %t, %y[%i] : memref<4xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: tir.func @f
// CHECK:        tir.for %0 = 0 to 1 thread "blockIdx.x" "y.k.0.grid" {
// CHECK-NEXT:     tir.for %i = 0 to 4 "y.i" {
// CHECK-NEXT:       %y_parts = tir.alloc "y.parts" scope "shared" : memref<2xf32>
// CHECK-NEXT:       tir.for %k = 0 to 2 thread "threadIdx.x" "y.k.0" {
// CHECK:              tir.for %l = 0 to 3 reduction "y.k.1" {
// CHECK-NEXT:           tir.block "y.part" {
// CHECK:            tir.block "y.parts" {
// CHECK:            tir.for %k = 0 to 2 thread "threadIdx.x" "y.k.0.fold1" {
// CHECK:            tir.block "y" {
// CHECK-NEXT:         %[[SUM:.*]] = tir.load %y_parts[0]
// CHECK-NEXT:         tir.store %[[SUM]], %y[%i]
