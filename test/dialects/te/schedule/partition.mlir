// RUN: opt-tool %s -p 'te-to-tir{stop-after=2}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The last iteration stands apart, so that no bound is left.

te.func @f(%A: tensor<10xf32>) -> tensor<10xf32> {
  %c = te.compute "C" [10] (%i) : tensor<10xf32> {
    %a = te.read %A[%i] : tensor<10xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<10xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 4]
  te.partition %io
}

// BEFORE: tir.func @f(%A: memref<10xf32>, %c_out: memref<10xf32>) attributes {outputs = 1 : i64} {
// BEFORE-NEXT:     tir.for %io = 0 to 3 "C.i.0" {
// BEFORE-NEXT:       tir.for %ii = 0 to 4 min [%io * -4 + 10] "C.i.1" {
// BEFORE-NEXT:         tir.block "C" {
// BEFORE-NEXT:           %a = tir.load %A[%ii + %io * 4] : memref<10xf32>
// BEFORE-NEXT:           tir.store %a, %c_out[%ii + %io * 4] : memref<10xf32>
// BEFORE-NEXT:         }
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:   }

// CHECK-LABEL: tir.func @f(%A: memref<10xf32>, %c_out: memref<10xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:     tir.for %io = 0 to 2 "C.i.0" {
// CHECK-NEXT:       tir.for %ii = 0 to 4 "C.i.1" {
// CHECK-NEXT:         tir.block "C" {
// CHECK-NEXT:           %a = tir.load %A[%ii + %io * 4] : memref<10xf32>
// CHECK-NEXT:           tir.store %a, %c_out[%ii + %io * 4] : memref<10xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     tir.for %ii = 0 to 2 "C.i.1.tail" {
// CHECK-NEXT:       tir.block "C" {
// CHECK-NEXT:         %a = tir.load %A[%ii + 8] : memref<10xf32>
// CHECK-NEXT:         tir.store %a, %c_out[%ii + 8] : memref<10xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
