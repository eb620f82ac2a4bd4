// RUN: opt-tool %s -p tir-loop-partition | filecheck %s
// The outer variable has one value: the column is cut where it meets the first pixel. Of the other loop it is unknown.

tir.func @f(%X: memref<8xf32>, %y: memref<2x8xf32>) attributes {outputs = 1 : i64} {
  tir.for %o = 0 to 1 "y.o" {
    tir.for %s = 0 to 3 "y.s" attributes {pragma_loop_partition_hint = 1 : i64} {
      tir.for %i = 0 to 4 unrolled "y.i" {
        tir.if [%o * 4 + %i + %s - 1 >= 0] { %a = tir.load %X[%o * 4 + %i + %s - 1] : memref<8xf32> tir.store %a, %y[0, %i] : memref<2x8xf32> }
      }
    }
  }
  tir.for %p = 0 to 2 "z.o" {
    tir.for %s = 0 to 3 "z.s" attributes {pragma_loop_partition_hint = 1 : i64} {
      tir.if [%p * 4 + %s - 1 >= 0] { %a = tir.load %X[%p * 4 + %s - 1] : memref<8xf32> tir.store %a, %y[1, %s] : memref<2x8xf32> }
    }
  }
}

// CHECK:      tir.for %s = 0 to 1 "y.s.prologue.0" {
// CHECK-NEXT:   tir.for %i = 0 to 4 unrolled "y.i.prologue.0" {
// CHECK-NEXT:     tir.if [%o * 4 + %i + %s - 1 >= 0] {
// CHECK:      tir.for %s = 0 to 2 "y.s.main" {
// CHECK-NEXT:   tir.for %i = 0 to 4 unrolled "y.i.main" {
// CHECK-NEXT:     %a = tir.load %X[%o * 4 + %i + %s]
// CHECK:      tir.for %s = 0 to 3 "z.s" {
// CHECK-NEXT:   tir.if
