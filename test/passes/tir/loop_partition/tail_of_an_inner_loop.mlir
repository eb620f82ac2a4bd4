// RUN: opt-tool %s -p 'tir-loop-partition{all=true}' | filecheck %s
// The tail binds in the last iteration only; a condition on the inner loop too counts for all of its values.

tir.func @f(%X: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
  tir.for %o = 0 to 3 "y.o" {
    tir.for %i = 0 to 4 min [10 - %o * 4] "y.i" {
      tir.if [9 - %o * 4 - %i >= 0] {
        %x = tir.load %X[%o * 4 + %i] : memref<10xf32>
        tir.store %x, %y[%o * 4 + %i] : memref<10xf32>
      }
    }
  }
}

// CHECK:      tir.for %o = 0 to 2 "y.o.main" {
// CHECK-NEXT:   tir.for %i = 0 to 4 "y.i.main" {
// CHECK-NEXT:     %x = tir.load %X[%o * 4 + %i] : memref<10xf32>
// CHECK:      tir.for %o = 0 to 1 "y.o.epilogue.0" {
// CHECK-NEXT:   tir.for %i = 0 to 2 "y.i.epilogue.0" {
