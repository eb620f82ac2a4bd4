// RUN: opt-tool %s -p te-to-tir | filecheck %s
// One nest and one block: all accumulators are loaded, combined and stored; a result that is not returned has a buffer.

// CHECK-LABEL: tir.func @argmax(%X: memref<4x8xf32>, %p_out: memref<4xi32>) attributes {outputs = 1 : i64} {
te.func @argmax(%X: tensor<4x8xf32>) -> tensor<4xi32> {
  // CHECK-NEXT: %argmax_v1 = tir.alloc "argmax.v1" scope "global" : memref<4xf32>
  // CHECK-NEXT: tir.for %i = 0 to 4 "argmax.i" {
  // CHECK-NEXT:   tir.for %k = 0 to 8 reduction "argmax.k" {
  // CHECK-NEXT:     tir.block "argmax" init {
  // CHECK-NEXT:       %none = arith.constant -1 : i32
  // CHECK-NEXT:       %low = arith.constant 0xff800000 : f32
  // CHECK-NEXT:       tir.store %none, %p_out[%i] : memref<4xi32>
  // CHECK-NEXT:       tir.store %low, %argmax_v1[%i] : memref<4xf32>
  // CHECK-NEXT:     } do {
  // CHECK-NEXT:       [[P:%[0-9]+]] = tir.load %p_out[%i] : memref<4xi32>
  // CHECK-NEXT:       [[V:%[0-9]+]] = tir.load %argmax_v1[%i] : memref<4xf32>
  // CHECK:            %x = tir.load %X[%i, %k] : memref<4x8xf32>
  // CHECK-NEXT:       %c = arith.cmpf oge, [[V]], %x : f32
  // CHECK-NEXT:       %a = arith.select %c, [[P]], %place : i32
  // CHECK-NEXT:       %b = arith.select %c, [[V]], %x : f32
  // CHECK-NEXT:       tir.store %a, %p_out[%i] : memref<4xi32>
  // CHECK-NEXT:       tir.store %b, %argmax_v1[%i] : memref<4xf32>
  %p, %v = te.compute "argmax" [4] reduce [8] (%i, %k) : tensor<4xi32>, tensor<4xf32> {
    %n = te.index [%k] : index
    %place = arith.index_cast %n : index to i32
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    te.yield %place, %x : i32, f32
  } combine (%p0, %v0, %p1, %v1) {
    %c = arith.cmpf oge, %v0, %v1 : f32
    %a = arith.select %c, %p0, %p1 : i32
    %b = arith.select %c, %v0, %v1 : f32
    te.yield %a, %b : i32, f32
  } identity {
    %none = arith.constant -1 : i32
    %low = arith.constant 0xff800000 : f32
    te.yield %none, %low : i32, f32
  }
  te.return %p : tensor<4xi32>
}
