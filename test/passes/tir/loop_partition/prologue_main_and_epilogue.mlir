// RUN: opt-tool %s -p tir-loop-partition | filecheck %s
// A stencil with padding: the window lies inside of the row in the main piece.

tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" attributes {pragma_loop_partition_hint = 1 : i64} {
    %a = tir.load %X[%i - 1] where [%i - 1 >= 0] : memref<8xf32>
    %b = tir.load %X[%i + 2] where [5 - %i >= 0] : memref<8xf32>
    %s = arith.addf %a, %b : f32
    tir.store %s, %y[%i] : memref<8xf32>
  }
}

// CHECK:      tir.for %i = 0 to 1 "y.i.prologue.0" {
// CHECK-NEXT:   %a = tir.load %X[%i - 1] where [%i - 1 >= 0] : memref<8xf32>
// CHECK-NEXT:   %b = tir.load %X[%i + 2] : memref<8xf32>
// CHECK:      tir.for %i = 0 to 5 "y.i.main" {
// CHECK-NEXT:   %a = tir.load %X[%i] : memref<8xf32>
// CHECK-NEXT:   %b = tir.load %X[%i + 3] : memref<8xf32>
// CHECK:      tir.for %i = 0 to 2 "y.i.epilogue.0" {
// CHECK-NEXT:   %a = tir.load %X[%i + 5] : memref<8xf32>
// CHECK-NEXT:   %b = tir.load %X[%i + 8] where [%i * -1 - 1 >= 0] : memref<8xf32>
