// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A vertical blur keeps two rows of three from one row of the image to the next.

te.func @f(%A: tensor<10x8xf32>) -> tensor<8x8xf32> {
  %b = te.compute "B" [10, 8] (%i, %j) : tensor<10x8xf32> {
    %a = te.read %A[%i, %j] : tensor<10x8xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8, 8] sum [3] (%i, %j, %k) : tensor<8x8xf32> {
    %x = te.read %b[%i + %k, %j] : tensor<10x8xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8x8xf32>
}
te.schedule @f {
  %i, %j, %k = te.loops "C" [3]
  %y, %x = te.compute_at "B" at %i [2]
  te.rolling_buffer "B" at %i
}

// CHECK-LABEL: tir.func @f(%A: memref<10x8xf32>, %c_out: memref<8x8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       %B = tir.alloc "B" scope "global" {rolling, padded} : memref<3x8xf32>
// CHECK-NEXT:       tir.for %i = 0 to 2 "B.i.first" {
// CHECK-NEXT:         tir.for %j = 0 to 8 "B.j.first" {
// CHECK-NEXT:           tir.block "B.first" {
// CHECK-NEXT:             %a = tir.load %A[%i, %j] : memref<10x8xf32>
// CHECK-NEXT:             %n = arith.negf %a : f32
// CHECK-NEXT:             tir.store %n, %B[%i, %j] : memref<3x8xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:         tir.for %i_1 = 0 to 1 "B.i" {
// CHECK-NEXT:           tir.for %j = 0 to 8 "B.j" {
// CHECK-NEXT:             tir.block "B" {
// CHECK-NEXT:               %a = tir.load %A[%i + %i_1 + 2, %j] : memref<10x8xf32>
// CHECK-NEXT:               %n = arith.negf %a : f32
// CHECK-NEXT:               tir.store %n, %B[(%i_1 + %i + 2) mod 3, %j] : memref<3x8xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:         tir.for %j = 0 to 8 "C.j" {
// CHECK-NEXT:           tir.for %k = 0 to 3 reduction "C.k" {
// CHECK-NEXT:             tir.block "C" init {
// CHECK-NEXT:               %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:               tir.store %0, %c_out[%i, %j] : memref<8x8xf32>
// CHECK-NEXT:             } do {
// CHECK-NEXT:               %1 = tir.load %c_out[%i, %j] : memref<8x8xf32>
// CHECK-NEXT:               %x = tir.load %B[(%k + %i) mod 3, %j] : memref<3x8xf32>
// CHECK-NEXT:               %2 = arith.addf %1, %x : f32
// CHECK-NEXT:               tir.store %2, %c_out[%i, %j] : memref<8x8xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
