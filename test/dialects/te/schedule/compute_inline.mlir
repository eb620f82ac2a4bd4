// RUN: opt-tool %s -p 'te-to-tir{stop-after=0}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Each read of B becomes B's equation; its loops and its buffer go.

te.func @f(%A: tensor<9xf32>) -> tensor<8xf32> {
  %b = te.compute "B" [9] (%i) : tensor<9xf32> {
    %a = te.read %A[%i] : tensor<9xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] : tensor<9xf32>
    %y = te.read %b[%i + 1] : tensor<9xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  te.compute_inline "B"
}

// BEFORE: tir.func @f(%A: memref<9xf32>, %c_out: memref<8xf32>) attributes {outputs = 1 : i64} {
// BEFORE-NEXT:     %B = tir.alloc "B" scope "global" : memref<9xf32>
// BEFORE-NEXT:     tir.for %i = 0 to 9 "B.i" {
// BEFORE-NEXT:       tir.block "B" {
// BEFORE-NEXT:         %a = tir.load %A[%i] : memref<9xf32>
// BEFORE-NEXT:         %n = arith.negf %a : f32
// BEFORE-NEXT:         tir.store %n, %B[%i] : memref<9xf32>
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:     tir.for %i = 0 to 8 "C.i" {
// BEFORE-NEXT:       tir.block "C" {
// BEFORE-NEXT:         %x = tir.load %B[%i] : memref<9xf32>
// BEFORE-NEXT:         %y = tir.load %B[%i + 1] : memref<9xf32>
// BEFORE-NEXT:         %s = arith.addf %x, %y : f32
// BEFORE-NEXT:         tir.store %s, %c_out[%i] : memref<8xf32>
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:   }

// CHECK-LABEL: tir.func @f(%A: memref<9xf32>, %c_out: memref<8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:     tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:       tir.block "C" {
// CHECK-NEXT:         %a = tir.load %A[%i] : memref<9xf32>
// CHECK-NEXT:         %n = arith.negf %a : f32
// CHECK-NEXT:         %a_1 = tir.load %A[%i + 1] : memref<9xf32>
// CHECK-NEXT:         %n_1 = arith.negf %a_1 : f32
// CHECK-NEXT:         %s = arith.addf %n, %n_1 : f32
// CHECK-NEXT:         tir.store %s, %c_out[%i] : memref<8xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
