// RUN: opt-tool %s -p 'te-to-tir{stop-after=2}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The peeled iteration goes on with the sum that the others began: it has no init.

te.func @f(%A: tensor<4x10xf32>) -> tensor<4xf32> {
  %b = te.compute "B" [4] sum [10] (%i, %k) : tensor<4xf32> {
    %a = te.read %A[%i, %k] : tensor<4x10xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [4] (%i) : tensor<4xf32> {
    %x = te.read %b[%i] : tensor<4xf32>
    %n = arith.negf %x : f32
    te.yield %n : f32
  }
  te.return %c : tensor<4xf32>
}
te.schedule @f {
  %i, %k = te.loops "B" [2]
  %ko, %ki = te.split %k [-1, 4]
  te.partition %ko
}

// BEFORE: tir.func @f(%A: memref<4x10xf32>, %c_out: memref<4xf32>) attributes {outputs = 1 : i64} {
// BEFORE-NEXT:     %B = tir.alloc "B" scope "global" : memref<4xf32>
// BEFORE-NEXT:     tir.for %i = 0 to 4 "B.i" {
// BEFORE-NEXT:       tir.for %ko = 0 to 3 reduction "B.k.0" {
// BEFORE-NEXT:         tir.for %ki = 0 to 4 min [%ko * -4 + 10] reduction "B.k.1" {
// BEFORE-NEXT:           tir.block "B" init {
// BEFORE-NEXT:             %0 = arith.constant 0.000000e+00 : f32
// BEFORE-NEXT:             tir.store %0, %B[%i] : memref<4xf32>
// BEFORE-NEXT:           } do {
// BEFORE-NEXT:             %1 = tir.load %B[%i] : memref<4xf32>
// BEFORE-NEXT:             %a = tir.load %A[%i, %ki + %ko * 4] : memref<4x10xf32>
// BEFORE-NEXT:             %2 = arith.addf %1, %a : f32
// BEFORE-NEXT:             tir.store %2, %B[%i] : memref<4xf32>
// BEFORE-NEXT:           }
// BEFORE-NEXT:         }
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:     tir.for %i = 0 to 4 "C.i" {
// BEFORE-NEXT:       tir.block "C" {
// BEFORE-NEXT:         %x = tir.load %B[%i] : memref<4xf32>
// BEFORE-NEXT:         %n = arith.negf %x : f32
// BEFORE-NEXT:         tir.store %n, %c_out[%i] : memref<4xf32>
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:   }

// CHECK-LABEL: tir.func @f(%A: memref<4x10xf32>, %c_out: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:     %B = tir.alloc "B" scope "global" : memref<4xf32>
// CHECK-NEXT:     tir.for %i = 0 to 4 "B.i" {
// CHECK-NEXT:       tir.for %ko = 0 to 2 reduction "B.k.0" {
// CHECK-NEXT:         tir.for %ki = 0 to 4 reduction "B.k.1" {
// CHECK-NEXT:           tir.block "B" init {
// CHECK-NEXT:             %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:             tir.store %0, %B[%i] : memref<4xf32>
// CHECK-NEXT:           } do {
// CHECK-NEXT:             %1 = tir.load %B[%i] : memref<4xf32>
// CHECK-NEXT:             %a = tir.load %A[%i, %ki + %ko * 4] : memref<4x10xf32>
// CHECK-NEXT:             %2 = arith.addf %1, %a : f32
// CHECK-NEXT:             tir.store %2, %B[%i] : memref<4xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %ki = 0 to 2 reduction "B.k.1.tail" {
// CHECK-NEXT:         tir.block "B" {
// CHECK-NEXT:           %0 = tir.load %B[%i] : memref<4xf32>
// CHECK-NEXT:           %a = tir.load %A[%i, %ki + 8] : memref<4x10xf32>
// CHECK-NEXT:           %1 = arith.addf %0, %a : f32
// CHECK-NEXT:           tir.store %1, %B[%i] : memref<4xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     tir.for %i = 0 to 4 "C.i" {
// CHECK-NEXT:       tir.block "C" {
// CHECK-NEXT:         %x = tir.load %B[%i] : memref<4xf32>
// CHECK-NEXT:         %n = arith.negf %x : f32
// CHECK-NEXT:         tir.store %n, %c_out[%i] : memref<4xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
