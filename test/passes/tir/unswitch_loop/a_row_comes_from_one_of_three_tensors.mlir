// RUN: opt-tool %s -p tir-unswitch-loop,tir-simplify | filecheck %s
// Where a row comes from is asked once a row: loops of their own copy the rows of each tensor.

tir.func @three(%A: memref<4x32xf32>, %B: memref<5x32xf32>, %C: memref<6x32xf32>, %y: memref<15x32xf32>) {
  tir.for %i = 0 to 15 parallel "y.i" {
    tir.for %jo = 0 to 2 "y.j.0" {
      tir.for %ji = 0 to 16 vectorized "y.j.1" {
        %c = tir.load %C[%i - 9, %jo * 16 + %ji] where [%i - 9 >= 0] : memref<6x32xf32>
        %b = tir.load %B[%i - 4, %jo * 16 + %ji] where [%i - 4 >= 0, 8 - %i >= 0] : memref<5x32xf32>
        %in_b = tir.condition [8 - %i >= 0] : i1
        %bc = arith.select %in_b, %b, %c : f32
        %a = tir.load %A[%i, %jo * 16 + %ji] where [3 - %i >= 0] : memref<4x32xf32>
        %in_a = tir.condition [3 - %i >= 0] : i1
        %abc = arith.select %in_a, %a, %bc : f32
        tir.store %abc, %y[%i, %jo * 16 + %ji] : memref<15x32xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.func @three
// CHECK:         tir.for %i = 0 to 15 parallel
// CHECK-NOT:       arith.select
// CHECK:           tir.load %A[%i, %jo * 16 + %ji] : memref<4x32xf32>
// CHECK-NEXT:      tir.store
// CHECK-NOT:       arith.select
// CHECK:           tir.load %B[%i - 4, %jo * 16 + %ji] : memref<5x32xf32>
// CHECK-NEXT:      tir.store
// CHECK-NOT:       arith.select
// CHECK:           tir.load %C[%i - 9, %jo * 16 + %ji] : memref<6x32xf32>
// CHECK-NEXT:      tir.store
// CHECK-NOT:       tir.load
