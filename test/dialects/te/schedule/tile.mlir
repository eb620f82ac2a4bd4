// RUN: opt-tool %s -p 'te-to-tir{stop-after=1}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Both loops are split by their inner factors and interleaved.

te.func @f(%A: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = te.compute "C" [4, 8] (%i, %j) : tensor<4x8xf32> {
    %a = te.read %A[%i, %j] : tensor<4x8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<4x8xf32>
}
te.schedule @f {
  %y, %x = te.loops "C" [2]
  %yo, %xo, %yi, %xi = te.tile %y, %x [2, 4]
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
// CHECK-NEXT:     tir.for %io = 0 to 2 "C.i.0" {
// CHECK-NEXT:       tir.for %jo = 0 to 2 "C.j.0" {
// CHECK-NEXT:         tir.for %ii = 0 to 2 "C.i.1" {
// CHECK-NEXT:           tir.for %ji = 0 to 4 "C.j.1" {
// CHECK-NEXT:             tir.block "C" {
// CHECK-NEXT:               %a = tir.load %A[%ii + %io * 2, %ji + %jo * 4] : memref<4x8xf32>
// CHECK-NEXT:               tir.store %a, %c_out[%ii + %io * 2, %ji + %jo * 4] : memref<4x8xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
