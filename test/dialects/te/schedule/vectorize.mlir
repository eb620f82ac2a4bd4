// RUN: opt-tool %s -p 'te-to-tir{stop-after=1}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The loop is marked; `tir-vectorize-loop` makes the vectors.

te.func @f(%A: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = te.compute "C" [4, 8] (%i, %j) : tensor<4x8xf32> {
    %a = te.read %A[%i, %j] : tensor<4x8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<4x8xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  te.vectorize %j
}

// BEFORE: tir.func @f(%A: memref<4x8xf32>, %c_out: memref<4x8xf32>) attributes {outputs = 1 : i64} {
// BEFORE-NEXT:     tir.for %i = 0 to 4 "C.i" {
// BEFORE-NEXT:       tir.for %j = 0 to 8 "C.j" {
// BEFORE-NEXT:         tir.block "C" {
// BEFORE-NEXT:           %a = tir.load %A[%i, %j] : memref<4x8xf32>
// BEFORE-NEXT:           tir.store %a, %c_out[%i, %j] : memref<4x8xf32>
// BEFORE-NEXT:         }
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:   }

// CHECK-LABEL: tir.func @f(%A: memref<4x8xf32>, %c_out: memref<4x8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:     tir.for %i = 0 to 4 "C.i" {
// CHECK-NEXT:       tir.for %j = 0 to 8 vectorized "C.j" {
// CHECK-NEXT:         tir.block "C" {
// CHECK-NEXT:           %a = tir.load %A[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:           tir.store %a, %c_out[%i, %j] : memref<4x8xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
