// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The stage is iterated in the new order, too: over blocks of a size that is known when the program runs.

te.func @f(%n: index, %A: tensor<?x3xf32> {te.shape = #te.map<(d0) -> (d0, 3)>}) -> tensor<?x3xf32> {
  %b = te.compute "B" [%n, 3] (%i, %j) : tensor<?x3xf32> {
    %a = te.read %A[%i, %j] : tensor<?x3xf32>
    %n_ = arith.negf %a : f32
    te.yield %n_ : f32
  }
  %c = te.compute "C" [%n, 3] (%i, %j) : tensor<?x3xf32> {
    %x = te.read %b[%i, %j] : tensor<?x3xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<?x3xf32>
}
te.schedule @f {
  %o, %j, %i = te.transform_layout "B" #te.map<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)> [3]
  te.parallel %o
}

// CHECK-LABEL: tir.func @f(%n: index, %A: memref<?x3xf32> {te.shape = #te.map<(d0) -> (d0, 3)>}, %c_out: memref<?x3xf32> {te.shape = #te.map<(d0) -> (d0, 3)>}) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       %B = tir.alloc "B" scope "global" [(%n + 3) floordiv 4, 3, 4] {padded} : memref<?x3x4xf32>
// CHECK-NEXT:       tir.for %0 = 0 to min [(%n + 3) floordiv 4] parallel "B.0" {
// CHECK-NEXT:         tir.for %j = 0 to 3 "B.j" {
// CHECK-NEXT:           tir.for %1 = 0 to 4 "B.2" {
// CHECK-NEXT:             tir.block "B" where [%n + %1 * -1 + %0 * -4 - 1 >= 0] {
// CHECK-NEXT:               %a = tir.load %A[%1 + %0 * 4, %j] : memref<?x3xf32>
// CHECK-NEXT:               %n_ = arith.negf %a : f32
// CHECK-NEXT:               tir.store %n_, %B[%0, %j, %1] : memref<?x3x4xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %i = 0 to min [%n] "C.i" {
// CHECK-NEXT:         tir.for %j = 0 to 3 "C.j" {
// CHECK-NEXT:           tir.block "C" {
// CHECK-NEXT:             %x = tir.load %B[%i floordiv 4, %j, %i mod 4] : memref<?x3x4xf32>
// CHECK-NEXT:             %s = arith.addf %x, %x : f32
// CHECK-NEXT:             tir.store %s, %c_out[%i, %j] : memref<?x3xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
