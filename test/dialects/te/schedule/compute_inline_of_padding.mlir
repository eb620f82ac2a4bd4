// RUN: opt-tool %s -p 'te-to-tir{stop-after=0}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The padding's guard moves into the reads.

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %p = te.compute "P" [10] (%i) : tensor<10xf32> {
    %a = te.read %A[%i - 1] where [%i - 1 >= 0, %i * -1 + 8 >= 0] : tensor<8xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %p[%i] : tensor<10xf32>
    %y = te.read %p[%i + 2] : tensor<10xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  te.compute_inline "P"
}

// BEFORE: tir.func @f(%A: memref<8xf32>, %c_out: memref<8xf32>) attributes {outputs = 1 : i64} {
// BEFORE-NEXT:     %P = tir.alloc "P" scope "global" : memref<10xf32>
// BEFORE-NEXT:     tir.for %i = 0 to 10 "P.i" {
// BEFORE-NEXT:       tir.block "P" {
// BEFORE-NEXT:         %a = tir.load %A[%i - 1] where [%i - 1 >= 0, %i * -1 + 8 >= 0] : memref<8xf32>
// BEFORE-NEXT:         tir.store %a, %P[%i] : memref<10xf32>
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:     tir.for %i = 0 to 8 "C.i" {
// BEFORE-NEXT:       tir.block "C" {
// BEFORE-NEXT:         %x = tir.load %P[%i] : memref<10xf32>
// BEFORE-NEXT:         %y = tir.load %P[%i + 2] : memref<10xf32>
// BEFORE-NEXT:         %s = arith.addf %x, %y : f32
// BEFORE-NEXT:         tir.store %s, %c_out[%i] : memref<8xf32>
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:   }

// CHECK-LABEL: tir.func @f(%A: memref<8xf32>, %c_out: memref<8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:     tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:       tir.block "C" {
// CHECK-NEXT:         %a = tir.load %A[%i - 1] where [%i - 1 >= 0, %i * -1 + 8 >= 0] : memref<8xf32>
// CHECK-NEXT:         %a_1 = tir.load %A[%i + 1] where [%i + 1 >= 0, %i * -1 + 6 >= 0] : memref<8xf32>
// CHECK-NEXT:         %s = arith.addf %a, %a_1 : f32
// CHECK-NEXT:         tir.store %s, %c_out[%i] : memref<8xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
