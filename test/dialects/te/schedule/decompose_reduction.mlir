// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The sums start before the tiles of j, in a stage of their own.

te.func @f(%A: tensor<4x10xf32>, %W: tensor<10x8xf32>) -> tensor<4x8xf32> {
  %c = te.compute "C" [4, 8] sum [10] (%i, %j, %k) : tensor<4x8xf32> {
    %a = te.read %A[%i, %k] : tensor<4x10xf32>
    %w = te.read %W[%k, %j] : tensor<10x8xf32>
    %p = arith.mulf %a, %w : f32
    te.yield %p : f32
  }
  te.return %c : tensor<4x8xf32>
}
te.schedule @f {
  %i, %j, %k = te.loops "C" [3]
  %jo, %ji = te.split %j [-1, 3]
  te.reorder %k, %ji
  te.decompose_reduction "C" at %jo
}

// CHECK-LABEL: tir.func @f(%A: memref<4x10xf32>, %W: memref<10x8xf32>, %c_out: memref<4x8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       tir.for %i = 0 to 4 "C.i" {
// CHECK-NEXT:         tir.for %jo = 0 to 3 "C.j.0.init" {
// CHECK-NEXT:           tir.for %ji = 0 to 3 min [%jo * -3 + 8] "C.j.1.init" {
// CHECK-NEXT:             tir.block "C.init" {
// CHECK-NEXT:               %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:               tir.store %0, %c_out[%i, %ji + %jo * 3] : memref<4x8xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:         tir.for %jo = 0 to 3 "C.j.0" {
// CHECK-NEXT:           tir.for %k = 0 to 10 reduction "C.k" {
// CHECK-NEXT:             tir.for %ji = 0 to 3 min [%jo * -3 + 8] "C.j.1" {
// CHECK-NEXT:               tir.block "C" {
// CHECK-NEXT:                 %0 = tir.load %c_out[%i, %ji + %jo * 3] : memref<4x8xf32>
// CHECK-NEXT:                 %a = tir.load %A[%i, %k] : memref<4x10xf32>
// CHECK-NEXT:                 %w = tir.load %W[%k, %ji + %jo * 3] : memref<10x8xf32>
// CHECK-NEXT:                 %p = arith.mulf %a, %w : f32
// CHECK-NEXT:                 %1 = arith.addf %0, %p : f32
// CHECK-NEXT:                 tir.store %1, %c_out[%i, %ji + %jo * 3] : memref<4x8xf32>
// CHECK-NEXT:               }
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
