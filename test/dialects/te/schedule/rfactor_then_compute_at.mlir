// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Of rows of any length: the partial results of one row, computed with the row. What lies beyond its end adds nothing.

te.func @f(%n: index, %m: index, %A: tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>}) -> tensor<?xf32> {
  %c = te.compute "C" [%n] sum [%m] (%i, %k) : tensor<?xf32> {
    %a = te.read %A[%i, %k] : tensor<?x?xf32>
    %e = math.exp %a : f32
    te.yield %e : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  %ko, %ki = te.split %k [-1, 16]
  %a, %o, %b = te.rfactor "C" at %ki axis 0 [3]
  te.reorder %b, %a, %o
  %row, %part = te.loops "C" [2]
  %p, %r, %s = te.compute_at "C.rf" at %row [3]
}

// CHECK-LABEL: tir.func @f(%n: index, %m: index, %A: memref<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>}, %c_out: memref<?xf32> {te.shape = #te.map<(d0, d1) -> (d0)>}) attributes {outputs = 1 : i64} {
// CHECK-NEXT:         tir.for %i = 0 to min [%n] "C.i" {
// CHECK-NEXT:           %C_rf = tir.alloc "C.rf" scope "global" : memref<16x1xf32>
// CHECK-NEXT:           tir.for %ki = 0 to 16 "C.rf.k.1" {
// CHECK-NEXT:             tir.for %i_1 = 0 to 1 min [%n + %i * -1] "C.rf.i" {
// CHECK-NEXT:               tir.for %ko = 0 to min [(%m + 15) floordiv 16] reduction "C.rf.k.0" {
// CHECK-NEXT:                 tir.block "C.rf" init {
// CHECK-NEXT:                   %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:                   tir.store %0, %C_rf[%ki, %i_1] : memref<16x1xf32>
// CHECK-NEXT:                 } do {
// CHECK-NEXT:                   %1 = tir.load %C_rf[%ki, %i_1] : memref<16x1xf32>
// CHECK-NEXT:                   %a = tir.load %A[%i + %i_1, %ki + %ko * 16] where [%m + %ko * -16 + %ki * -1 - 1 >= 0] : memref<?x?xf32>
// CHECK-NEXT:                   %e = math.exp %a : f32
// CHECK-NEXT:                   %2 = tir.condition [%m + %ko * -16 + %ki * -1 - 1 >= 0] : i1
// CHECK-NEXT:                   %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:                   %4 = arith.select %2, %e, %3 : f32
// CHECK-NEXT:                   %5 = arith.addf %1, %4 : f32
// CHECK-NEXT:                   tir.store %5, %C_rf[%ki, %i_1] : memref<16x1xf32>
// CHECK-NEXT:                 }
// CHECK-NEXT:               }
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:           tir.for %ki = 0 to 16 reduction "C.k.1" {
// CHECK-NEXT:             tir.block "C" init {
// CHECK-NEXT:               %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:               tir.store %0, %c_out[%i] : memref<?xf32>
// CHECK-NEXT:             } do {
// CHECK-NEXT:               %1 = tir.load %c_out[%i] : memref<?xf32>
// CHECK-NEXT:               %2 = tir.load %C_rf[%ki, 0] : memref<16x1xf32>
// CHECK-NEXT:               %3 = arith.addf %1, %2 : f32
// CHECK-NEXT:               tir.store %3, %c_out[%i] : memref<?xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
