// RUN: opt-tool %s -p 'te-to-tir{stop-after=0}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The quotient is the row, and both conditions hold wherever the loops run.

te.func @f(%A: tensor<5xf32>) -> tensor<5x2xf32> {
  %c = te.compute "C" [5, 2] (%i, %j) : tensor<5x2xf32> {
    %x = te.read %A[(%i * 2 + %j) floordiv 2] where [%i >= 0, 9 - %i * 2 - %j >= 0] : tensor<5xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<5x2xf32>
}
te.schedule @f {
  te.normalize
}

// BEFORE: tir.load %A[%i + %j floordiv 2] where [%i >= 0, %i * -2 + %j * -1 + 9 >= 0]

// CHECK-LABEL: tir.func @f(%A: memref<5xf32>, %c_out: memref<5x2xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       tir.for %i = 0 to 5 "C.i" {
// CHECK-NEXT:         tir.for %j = 0 to 2 "C.j" {
// CHECK-NEXT:           tir.block "C" {
// CHECK-NEXT:             %x = tir.load %A[%i] : memref<5xf32>
// CHECK-NEXT:             %s = arith.addf %x, %x : f32
// CHECK-NEXT:             tir.store %s, %c_out[%i, %j] : memref<5x2xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
