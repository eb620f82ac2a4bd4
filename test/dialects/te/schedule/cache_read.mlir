// RUN: opt-tool %s -p 'te-to-tir{stop-after=1}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The column of W that one iteration of j reads is copied first; a dimension of one element is dropped.

te.func @f(%A: tensor<4x16xf32>, %W: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %c = te.compute "C" [4, 8] sum [16] (%i, %j, %k) : tensor<4x8xf32> {
    %a = te.read %A[%i, %k] : tensor<4x16xf32>
    %w = te.read %W[%k, %j] : tensor<16x8xf32>
    %p = arith.mulf %a, %w : f32
    te.yield %p : f32
  }
  te.return %c : tensor<4x8xf32>
}
te.schedule @f {
  %i, %j, %k = te.loops "C" [3]
  %t = te.cache_read "W" in "C" at %j scope "register" [1]
}

// BEFORE: tir.func @f(%A: memref<4x16xf32>, %W: memref<16x8xf32>, %c_out: memref<4x8xf32>) attributes {outputs = 1 : i64} {
// BEFORE-NEXT:     tir.for %i = 0 to 4 "C.i" {
// BEFORE-NEXT:       tir.for %j = 0 to 8 "C.j" {
// BEFORE-NEXT:         tir.for %k = 0 to 16 reduction "C.k" {
// BEFORE-NEXT:           tir.block "C" init {
// BEFORE-NEXT:             %0 = arith.constant 0.000000e+00 : f32
// BEFORE-NEXT:             tir.store %0, %c_out[%i, %j] : memref<4x8xf32>
// BEFORE-NEXT:           } do {
// BEFORE-NEXT:             %1 = tir.load %c_out[%i, %j] : memref<4x8xf32>
// BEFORE-NEXT:             %a = tir.load %A[%i, %k] : memref<4x16xf32>
// BEFORE-NEXT:             %w = tir.load %W[%k, %j] : memref<16x8xf32>
// BEFORE-NEXT:             %p = arith.mulf %a, %w : f32
// BEFORE-NEXT:             %2 = arith.addf %1, %p : f32
// BEFORE-NEXT:             tir.store %2, %c_out[%i, %j] : memref<4x8xf32>
// BEFORE-NEXT:           }
// BEFORE-NEXT:         }
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:   }

// CHECK-LABEL: tir.func @f(%A: memref<4x16xf32>, %W: memref<16x8xf32>, %c_out: memref<4x8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:     tir.for %i = 0 to 4 "C.i" {
// CHECK-NEXT:       tir.for %j = 0 to 8 "C.j" {
// CHECK-NEXT:         %W_register = tir.alloc "W.register" scope "register" : memref<16xf32>
// CHECK-NEXT:         tir.for %W0 = 0 to 16 "W.register.0" {
// CHECK-NEXT:           tir.block "W.register" {
// CHECK-NEXT:             %0 = tir.load %W[%W0, %j] : memref<16x8xf32>
// CHECK-NEXT:             tir.store %0, %W_register[%W0] : memref<16xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:         tir.for %k = 0 to 16 reduction "C.k" {
// CHECK-NEXT:           tir.block "C" init {
// CHECK-NEXT:             %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:             tir.store %0, %c_out[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:           } do {
// CHECK-NEXT:             %1 = tir.load %c_out[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:             %a = tir.load %A[%i, %k] : memref<4x16xf32>
// CHECK-NEXT:             %w = tir.load %W_register[%k] : memref<16xf32>
// CHECK-NEXT:             %p = arith.mulf %a, %w : f32
// CHECK-NEXT:             %2 = arith.addf %1, %p : f32
// CHECK-NEXT:             tir.store %2, %c_out[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
