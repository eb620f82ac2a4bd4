// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A row that two stages read is copied once before the first of them, as a stage that can be scheduled.

te.func @f(%A: tensor<4x10xf32>, %B: tensor<10xf32>) -> (tensor<4xf32>, tensor<4x10xf32>) {
  %c = te.compute "C" [4] sum [10] (%i, %k) : tensor<4xf32> {
    %a = te.read %A[%i, %k] : tensor<4x10xf32>
    %b = te.read %B[%k] : tensor<10xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  %d = te.compute "D" [4, 10] (%i, %j) : tensor<4x10xf32> {
    %a = te.read %A[%i, %j] : tensor<4x10xf32>
    %b = te.read %B[%j] : tensor<10xf32>
    %p = arith.addf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c, %d : tensor<4xf32>, tensor<4x10xf32>
}
te.schedule @f {
  %i, %j = te.loops "D" [2]
  te.cache_read "B" in ["C", "D"] scope "shared"
  %t = te.loops "B.shared" [1]
  te.vectorize %t
}

// CHECK-LABEL: tir.func @f(%A: memref<4x10xf32>, %B: memref<10xf32>, %c_out: memref<4xf32>, %d_out: memref<4x10xf32>) attributes {outputs = 2 : i64} {
// CHECK-NEXT:       %B_shared = tir.alloc "B.shared" scope "shared" : memref<10xf32>
// CHECK-NEXT:       tir.for %B0 = 0 to 10 vectorized "B.shared.0" {
// CHECK-NEXT:         tir.block "B.shared" {
// CHECK-NEXT:           %0 = tir.load %B[%B0] : memref<10xf32>
// CHECK-NEXT:           tir.store %0, %B_shared[%B0] : memref<10xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %i = 0 to 4 "C.i" {
// CHECK-NEXT:         tir.for %k = 0 to 10 reduction "C.k" {
// CHECK-NEXT:           tir.block "C" init {
// CHECK-NEXT:             %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:             tir.store %0, %c_out[%i] : memref<4xf32>
// CHECK-NEXT:           } do {
// CHECK-NEXT:             %1 = tir.load %c_out[%i] : memref<4xf32>
// CHECK-NEXT:             %a = tir.load %A[%i, %k] : memref<4x10xf32>
// CHECK-NEXT:             %b = tir.load %B_shared[%k] : memref<10xf32>
// CHECK-NEXT:             %p = arith.mulf %a, %b : f32
// CHECK-NEXT:             %2 = arith.addf %1, %p : f32
// CHECK-NEXT:             tir.store %2, %c_out[%i] : memref<4xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %i = 0 to 4 "D.i" {
// CHECK-NEXT:         tir.for %j = 0 to 10 "D.j" {
// CHECK-NEXT:           tir.block "D" {
// CHECK-NEXT:             %a = tir.load %A[%i, %j] : memref<4x10xf32>
// CHECK-NEXT:             %b = tir.load %B_shared[%j] : memref<10xf32>
// CHECK-NEXT:             %p = arith.addf %a, %b : f32
// CHECK-NEXT:             tir.store %p, %d_out[%i, %j] : memref<4x10xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
