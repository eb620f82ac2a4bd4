// RUN: opt-tool %s -p 'te-to-tir{stop-after=2}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The accesses of what was split are in terms of both loops; quotient and remainder of the fused one cancel.

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [2, 4]
  %f = te.fuse %io, %ii
}

// BEFORE: tir.func @f(%A: memref<8xf32>, %c_out: memref<8xf32>) attributes {outputs = 1 : i64} {
// BEFORE-NEXT:     tir.for %io = 0 to 2 "C.i.0" {
// BEFORE-NEXT:       tir.for %ii = 0 to 4 "C.i.1" {
// BEFORE-NEXT:         tir.block "C" {
// BEFORE-NEXT:           %a = tir.load %A[%ii + %io * 4] : memref<8xf32>
// BEFORE-NEXT:           tir.store %a, %c_out[%ii + %io * 4] : memref<8xf32>
// BEFORE-NEXT:         }
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:   }

// CHECK-LABEL: tir.func @f(%A: memref<8xf32>, %c_out: memref<8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:     tir.for %io_ii = 0 to 8 "C.i.0+C.i.1" {
// CHECK-NEXT:       tir.block "C" {
// CHECK-NEXT:         %a = tir.load %A[%io_ii] : memref<8xf32>
// CHECK-NEXT:         tir.store %a, %c_out[%io_ii] : memref<8xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
