// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Nothing can be read in the place of a divisor that is not there, so all partial results start before.

te.func @f(%A: tensor<3x5xi32>) -> tensor<3xi32> {
  %c = te.compute "C" [3] max [5] (%i, %k) : tensor<3xi32> {
    %a = te.read %A[%i, %k] : tensor<3x5xi32>
    %n = arith.constant 101 : i32
    %d = arith.ori %a, %n : i32
    %q = arith.divui %n, %d : i32
    te.yield %q : i32
  }
  te.return %c : tensor<3xi32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  %ko, %ki = te.split %k [4, 2]
  %a, %v, %b = te.rfactor "C" at %ko axis 0 [3]
}

// CHECK-LABEL: tir.func @f(%A: memref<3x5xi32>, %c_out: memref<3xi32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:         %C_rf = tir.alloc "C.rf" scope "global" : memref<4x3xi32>
// CHECK-NEXT:         tir.for %i = 0 to 3 "C.rf.i" {
// CHECK-NEXT:           tir.for %ko = 0 to 4 "C.rf.k.0.init" {
// CHECK-NEXT:             tir.block "C.rf.init" {
// CHECK-NEXT:               %0 = arith.constant -2147483648 : i32
// CHECK-NEXT:               tir.store %0, %C_rf[%ko, %i] : memref<4x3xi32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:           tir.for %ko = 0 to 4 "C.rf.k.0" {
// CHECK-NEXT:             tir.for %ki = 0 to 2 min [%ko * -2 + 5] reduction "C.rf.k.1" {
// CHECK-NEXT:               tir.block "C.rf" {
// CHECK-NEXT:                 %0 = tir.load %C_rf[%ko, %i] : memref<4x3xi32>
// CHECK-NEXT:                 %a = tir.load %A[%i, %ki + %ko * 2] : memref<3x5xi32>
// CHECK-NEXT:                 %n = arith.constant 101 : i32
// CHECK-NEXT:                 %d = arith.ori %a, %n : i32
// CHECK-NEXT:                 %q = arith.divui %n, %d : i32
// CHECK-NEXT:                 %1 = arith.maxsi %0, %q : i32
// CHECK-NEXT:                 tir.store %1, %C_rf[%ko, %i] : memref<4x3xi32>
// CHECK-NEXT:               }
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:         tir.for %i = 0 to 3 "C.i" {
// CHECK-NEXT:           tir.for %ko = 0 to 4 reduction "C.k.0" {
// CHECK-NEXT:             tir.block "C" init {
// CHECK-NEXT:               %0 = arith.constant -2147483648 : i32
// CHECK-NEXT:               tir.store %0, %c_out[%i] : memref<3xi32>
// CHECK-NEXT:             } do {
// CHECK-NEXT:               %1 = tir.load %c_out[%i] : memref<3xi32>
// CHECK-NEXT:               %2 = tir.load %C_rf[%ko, %i] : memref<4x3xi32>
// CHECK-NEXT:               %3 = arith.maxsi %1, %2 : i32
// CHECK-NEXT:               tir.store %3, %c_out[%i] : memref<3xi32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
