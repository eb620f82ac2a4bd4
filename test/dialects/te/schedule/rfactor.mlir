// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Four partial sums a row, of a row whose length four does not divide: where the last round has no term, none is added.

te.func @f(%A: tensor<3x10xf32>) -> tensor<3xf32> {
  %c = te.compute "C" [3] sum [10] (%i, %k) : tensor<3xf32> {
    %a = te.read %A[%i, %k] : tensor<3x10xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<3xf32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  %ko, %ki = te.split %k [-1, 4]
  %a, %b, %v = te.rfactor "C" at %ki axis 1 [3]
}

// CHECK-LABEL: tir.func @f(%A: memref<3x10xf32>, %c_out: memref<3xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       %C_rf = tir.alloc "C.rf" scope "global" : memref<3x4xf32>
// CHECK-NEXT:       tir.for %i = 0 to 3 "C.rf.i" {
// CHECK-NEXT:         tir.for %ko = 0 to 3 reduction "C.rf.k.0" {
// CHECK-NEXT:           tir.for %ki = 0 to 4 "C.rf.k.1" {
// CHECK-NEXT:             tir.block "C.rf" where [%ko * -4 + %ki * -1 + 9 >= 0] init {
// CHECK-NEXT:               %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:               tir.store %0, %C_rf[%i, %ki] : memref<3x4xf32>
// CHECK-NEXT:             } do {
// CHECK-NEXT:               %1 = tir.load %C_rf[%i, %ki] : memref<3x4xf32>
// CHECK-NEXT:               %a = tir.load %A[%i, %ki + %ko * 4] : memref<3x10xf32>
// CHECK-NEXT:               %2 = arith.addf %1, %a : f32
// CHECK-NEXT:               tir.store %2, %C_rf[%i, %ki] : memref<3x4xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %i = 0 to 3 "C.i" {
// CHECK-NEXT:         tir.for %ki = 0 to 4 reduction "C.k.1" {
// CHECK-NEXT:           tir.block "C" init {
// CHECK-NEXT:             %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:             tir.store %0, %c_out[%i] : memref<3xf32>
// CHECK-NEXT:           } do {
// CHECK-NEXT:             %1 = tir.load %c_out[%i] : memref<3xf32>
// CHECK-NEXT:             %2 = tir.load %C_rf[%i, %ki] : memref<3x4xf32>
// CHECK-NEXT:             %3 = arith.addf %1, %2 : f32
// CHECK-NEXT:             tir.store %3, %c_out[%i] : memref<3xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
