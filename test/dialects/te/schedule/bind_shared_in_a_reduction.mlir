// RUN: opt-tool %s -p te-to-tir,tir-lower-blocks | filecheck %s
// What a block shares in each step of a reduction starts anew there, though it is allocated outside of the threads.

te.func @f(%X: tensor<8x4xf32>, %W: tensor<4x8xf32>) -> tensor<4xf32> {
  %p = te.compute "P" [8] sum [4] (%k, %q) : tensor<8xf32> {
    %x = te.read %X[%k, %q] : tensor<8x4xf32>
    te.yield %x : f32
  }
  %y = te.compute "Y" [4] sum [8] (%i, %k) : tensor<4xf32> {
    %a = te.read %p[%k] : tensor<8xf32>
    %b = te.read %W[%i, %k] : tensor<4x8xf32>
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  }
  te.return %y : tensor<4xf32>
}
te.schedule @f {
  te.set_scope "P" "shared"
  %i, %k = te.loops "Y" [2]
  %b, %t = te.split %i [2, 2]
  %ko, %ki = te.split %k [2, 4]
  te.bind %b "blockIdx.x"
  te.bind %t "threadIdx.x"
  %pk, %pq = te.compute_at "P" at %ko [2]
}

// CHECK-LABEL: tir.func @f(%X: memref<8x4xf32>, %W: memref<4x8xf32>, %y_out: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %io = 0 to 2 thread "blockIdx.x" "Y.i.0" {
// CHECK-NEXT:     %P = tir.alloc "P" scope "shared" : memref<4xf32>
// CHECK-NEXT:     tir.for %ii = 0 to 2 thread "threadIdx.x" "Y.i.1" {
// CHECK-NEXT:       %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       tir.store %0, %y_out[%ii + %io * 2] : memref<4xf32>
// CHECK-NEXT:       tir.for %ko = 0 to 2 reduction "Y.k.0" {
// CHECK-NEXT:         tir.for %k = 0 to 4 "P.k" {
// CHECK-NEXT:           %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:           tir.store %1, %P[%k] : memref<4xf32>
// CHECK-NEXT:           tir.for %q = 0 to 4 reduction "P.q" {
// CHECK-NEXT:             %2 = tir.load %P[%k] : memref<4xf32>
// CHECK-NEXT:             %x = tir.load %X[%ko * 4 + %k, %q] : memref<8x4xf32>
// CHECK-NEXT:             %3 = arith.addf %2, %x : f32
// CHECK-NEXT:             tir.store %3, %P[%k] : memref<4xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:         tir.for %ki = 0 to 4 reduction "Y.k.1" {
// CHECK-NEXT:           %1 = tir.load %y_out[%ii + %io * 2] : memref<4xf32>
// CHECK-NEXT:           %a = tir.load %P[%ki] : memref<4xf32>
// CHECK-NEXT:           %b = tir.load %W[%ii + %io * 2, %ki + %ko * 4] : memref<4x8xf32>
// CHECK-NEXT:           %c = arith.mulf %a, %b : f32
// CHECK-NEXT:           %2 = arith.addf %1, %c : f32
// CHECK-NEXT:           tir.store %2, %y_out[%ii + %io * 2] : memref<4xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
