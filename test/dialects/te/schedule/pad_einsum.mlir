// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Every loop runs to a multiple of four; zeros fill up what is read, and the result's padding is not copied out.

te.func @f(%A: tensor<3x10xf32>, %B: tensor<10x4xf32>) -> tensor<3x4xf32> {
  %c = te.compute "C" [3, 4] sum [10] (%i, %j, %k) : tensor<3x4xf32> {
    %a = te.read %A[%i, %k] : tensor<3x10xf32>
    %b = te.read %B[%k, %j] : tensor<10x4xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<3x4xf32>
}
te.schedule @f {
  te.pad_einsum "C" [4, 4, 4]
}

// CHECK-LABEL: tir.func @f(%A: memref<3x10xf32>, %B: memref<10x4xf32>, %c_out: memref<3x4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       %A_pad = tir.alloc "A.pad" scope "global" : memref<4x12xf32>
// CHECK-NEXT:       tir.for %i0 = 0 to 4 "A.pad.0" {
// CHECK-NEXT:         tir.for %i1 = 0 to 12 "A.pad.1" {
// CHECK-NEXT:           tir.block "A.pad" {
// CHECK-NEXT:             %0 = tir.load %A[%i0, %i1] where [%i0 * -1 + 2 >= 0, %i1 * -1 + 9 >= 0] : memref<3x10xf32>
// CHECK-NEXT:             tir.store %0, %A_pad[%i0, %i1] : memref<4x12xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       %B_pad = tir.alloc "B.pad" scope "global" : memref<12x4xf32>
// CHECK-NEXT:       tir.for %i0 = 0 to 12 "B.pad.0" {
// CHECK-NEXT:         tir.for %i1 = 0 to 4 "B.pad.1" {
// CHECK-NEXT:           tir.block "B.pad" {
// CHECK-NEXT:             %0 = tir.load %B[%i0, %i1] where [%i0 * -1 + 9 >= 0] : memref<10x4xf32>
// CHECK-NEXT:             tir.store %0, %B_pad[%i0, %i1] : memref<12x4xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       %C_pad = tir.alloc "C.pad" scope "global" : memref<4x4xf32>
// CHECK-NEXT:       tir.for %i = 0 to 4 "C.i" {
// CHECK-NEXT:         tir.for %j = 0 to 4 "C.j" {
// CHECK-NEXT:           tir.for %k = 0 to 12 reduction "C.k" {
// CHECK-NEXT:             tir.block "C" init {
// CHECK-NEXT:               %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:               tir.store %0, %C_pad[%i, %j] : memref<4x4xf32>
// CHECK-NEXT:             } do {
// CHECK-NEXT:               %1 = tir.load %C_pad[%i, %j] : memref<4x4xf32>
// CHECK-NEXT:               %a = tir.load %A_pad[%i, %k] : memref<4x12xf32>
// CHECK-NEXT:               %b = tir.load %B_pad[%k, %j] : memref<12x4xf32>
// CHECK-NEXT:               %p = arith.mulf %a, %b : f32
// CHECK-NEXT:               %2 = arith.addf %1, %p : f32
// CHECK-NEXT:               tir.store %2, %C_pad[%i, %j] : memref<4x4xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %i0 = 0 to 3 "C.out.0" {
// CHECK-NEXT:         tir.for %i1 = 0 to 4 "C.out.1" {
// CHECK-NEXT:           tir.block "C.out" {
// CHECK-NEXT:             %0 = tir.load %C_pad[%i0, %i1] : memref<4x4xf32>
// CHECK-NEXT:             tir.store %0, %c_out[%i0, %i1] : memref<3x4xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
