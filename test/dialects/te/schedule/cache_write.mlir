// RUN: opt-tool %s -p 'te-to-tir{stop-after=0}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// C is accumulated in a buffer of its own, and copied out by the stage C.out.

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
  te.cache_write "C" scope "register"
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
// CHECK-NEXT:     %C_register = tir.alloc "C.register" scope "register" : memref<4x8xf32>
// CHECK-NEXT:     tir.for %i = 0 to 4 "C.i" {
// CHECK-NEXT:       tir.for %j = 0 to 8 "C.j" {
// CHECK-NEXT:         tir.for %k = 0 to 16 reduction "C.k" {
// CHECK-NEXT:           tir.block "C" init {
// CHECK-NEXT:             %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:             tir.store %0, %C_register[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:           } do {
// CHECK-NEXT:             %1 = tir.load %C_register[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:             %a = tir.load %A[%i, %k] : memref<4x16xf32>
// CHECK-NEXT:             %w = tir.load %W[%k, %j] : memref<16x8xf32>
// CHECK-NEXT:             %p = arith.mulf %a, %w : f32
// CHECK-NEXT:             %2 = arith.addf %1, %p : f32
// CHECK-NEXT:             tir.store %2, %C_register[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     tir.for %i = 0 to 4 "C.out.0" {
// CHECK-NEXT:       tir.for %j = 0 to 8 "C.out.1" {
// CHECK-NEXT:         tir.block "C.out" {
// CHECK-NEXT:           %0 = tir.load %C_register[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:           tir.store %0, %c_out[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
