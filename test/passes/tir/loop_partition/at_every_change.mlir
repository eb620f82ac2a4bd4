// RUN: opt-tool %s -p tir-loop-partition | filecheck %s
// The pragma allows five pieces: those in which only some of the inner iterations meet the row are cut as well.

tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %s = 0 to 5 "y.s" attributes {pragma_loop_partition_hint = 5 : i64} {
    tir.for %i = 0 to 8 unrolled "y.i" {
      tir.if [%i + %s - 2 >= 0, 9 - %i - %s >= 0] {
        %a = tir.load %X[%i + %s - 2] : memref<8xf32>
        tir.store %a, %y[%i] : memref<8xf32>
      }
    }
  }
}

// CHECK:      tir.for %s = 0 to 1
// CHECK:        tir.if [%i + %s - 2 >= 0] {
// CHECK:      tir.for %s = 0 to 1
// CHECK:        tir.if [%i + %s - 1 >= 0] {
// CHECK:      tir.for %s = 0 to 1
// CHECK-NEXT:   tir.for %i = 0 to 8
// CHECK-NEXT:     %a = tir.load
// CHECK:      tir.for %s = 0 to 1
// CHECK:        tir.if [%i * -1 + %s * -1 + 6 >= 0] {
// CHECK:      tir.for %s = 0 to 1
// CHECK:        tir.if [%i * -1 + %s * -1 + 5 >= 0] {
