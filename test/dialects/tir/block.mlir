// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-lower-blocks | filecheck %s --check-prefix AFTER
// One element of a sum; its init runs at the first iteration of the reduction.

tir.func @f(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  tir.for %i = 0 to 4 "y.i" {
    tir.for %k = 0 to 8 reduction "y.k" {
      tir.block "y" init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%i] : memref<4xf32>
      } do {
        %sum = tir.load %y[%i] : memref<4xf32>
        %v = tir.load %x[%i, %k] : memref<4x8xf32>
        %s = arith.addf %sum, %v : f32
        tir.store %s, %y[%i] : memref<4xf32>
      }
    }
  }
}

// CHECK: tir.block "y" init
// AFTER: tir.for %i = 0 to 4 "y.i"
// AFTER: tir.store %zero, %y[%i] : memref<4xf32>
// AFTER: tir.for %k = 0 to 8 reduction "y.k"
// AFTER: %s = arith.addf %sum, %v : f32
