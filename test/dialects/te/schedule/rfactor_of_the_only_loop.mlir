// RUN: opt-tool %s -p te-to-tir | filecheck %s
// With one reduction loop a partial result is a single term, of as many as the program is given.

te.func @f(%n: index, %A: tensor<3x?xf32> {te.shape = #te.map<(d0) -> (3, d0)>}) -> tensor<3xf32> {
  %c = te.compute "C" [3] prod [%n] (%i, %k) : tensor<3xf32> {
    %a = te.read %A[%i, %k] : tensor<3x?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<3xf32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  %a, %b = te.rfactor "C" at %k axis -1 [2]
}

// CHECK-LABEL: tir.func @f(%n: index, %A: memref<3x?xf32> {te.shape = #te.map<(d0) -> (3, d0)>}, %c_out: memref<3xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       %C_rf = tir.alloc "C.rf" scope "global" [3, %n] : memref<3x?xf32>
// CHECK-NEXT:       tir.for %i = 0 to 3 "C.rf.i" {
// CHECK-NEXT:         tir.for %k = 0 to min [%n] "C.rf.k" {
// CHECK-NEXT:           tir.block "C.rf" {
// CHECK-NEXT:             %a = tir.load %A[%i, %k] : memref<3x?xf32>
// CHECK-NEXT:             tir.store %a, %C_rf[%i, %k] : memref<3x?xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %i = 0 to 3 "C.i" {
// CHECK-NEXT:         tir.for %k = 0 to min [%n] reduction "C.k" {
// CHECK-NEXT:           tir.block "C" init {
// CHECK-NEXT:             %0 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:             tir.store %0, %c_out[%i] : memref<3xf32>
// CHECK-NEXT:           } do {
// CHECK-NEXT:             %1 = tir.load %c_out[%i] : memref<3xf32>
// CHECK-NEXT:             %2 = tir.load %C_rf[%i, %k] : memref<3x?xf32>
// CHECK-NEXT:             %3 = arith.mulf %1, %2 : f32
// CHECK-NEXT:             tir.store %3, %c_out[%i] : memref<3xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
