// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The last of four parts of a row is beyond its end: it adds what changes nothing, so that every part starts.

te.func @f(%A: tensor<3x5xi32>) -> tensor<3xi32> {
  %c = te.compute "C" [3] max [5] (%i, %k) : tensor<3xi32> {
    %a = te.read %A[%i, %k] : tensor<3x5xi32>
    te.yield %a : i32
  }
  te.return %c : tensor<3xi32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  %ko, %ki = te.split %k [4, 2]
  %a, %v, %b = te.rfactor "C" at %ko axis 0 [3]
  te.parallel %v
}

// CHECK-LABEL: tir.func @f(%A: memref<3x5xi32>, %c_out: memref<3xi32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:         %C_rf = tir.alloc "C.rf" scope "global" : memref<4x3xi32>
// CHECK-NEXT:         tir.for %i = 0 to 3 "C.rf.i" {
// CHECK-NEXT:           tir.for %ko = 0 to 4 parallel "C.rf.k.0" {
// CHECK-NEXT:             tir.for %ki = 0 to 2 reduction "C.rf.k.1" {
// CHECK-NEXT:               tir.block "C.rf" init {
// CHECK-NEXT:                 %0 = arith.constant -2147483648 : i32
// CHECK-NEXT:                 tir.store %0, %C_rf[%ko, %i] : memref<4x3xi32>
// CHECK-NEXT:               } do {
// CHECK-NEXT:                 %1 = tir.load %C_rf[%ko, %i] : memref<4x3xi32>
// CHECK-NEXT:                 %a = tir.load %A[%i, %ki + %ko * 2] where [%ko * -2 + %ki * -1 + 4 >= 0] : memref<3x5xi32>
// CHECK-NEXT:                 %2 = tir.condition [%ko * -2 + %ki * -1 + 4 >= 0] : i1
// CHECK-NEXT:                 %3 = arith.constant -2147483648 : i32
// CHECK-NEXT:                 %4 = arith.select %2, %a, %3 : i32
// CHECK-NEXT:                 %5 = arith.maxsi %1, %4 : i32
// CHECK-NEXT:                 tir.store %5, %C_rf[%ko, %i] : memref<4x3xi32>
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
