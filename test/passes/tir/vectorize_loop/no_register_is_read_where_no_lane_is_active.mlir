// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// Of the second iteration no lane is active: nothing has written what it would read. A loop that is not unrolled has no
// branch, and memory no registers.

tir.func @f(%A: memref<32xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
  %r = tir.alloc "r" scope "register" : memref<32xf32>
  tir.for %o = 0 to 2 unrolled "r.o" {
    tir.for %i = 0 to 16 min [%o * -16 + 16] vectorized "r.i" {
      %a = tir.load %A[%o * 16 + %i] : memref<32xf32>
      tir.store %a, %r[%o * 16 + %i] : memref<32xf32>
    }
  }
  tir.for %o = 0 to 2 unrolled "y.o" {
    tir.for %i = 0 to 16 min [%o * -16 + 16] vectorized "y.i" {
      %v = tir.load %r[%o * 16 + %i] : memref<32xf32>
      tir.store %v, %y[%o * 16 + %i] : memref<16xf32>
    }
  }
  tir.for %o = 0 to 2 "z.o" {
    tir.for %i = 0 to 16 min [%o * -16 + 16] vectorized "z.i" {
      %w = tir.load %r[%i] : memref<32xf32>
      tir.store %w, %y[%o * 16 + %i] : memref<16xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f
// CHECK:       tir.for %o = 0 to 2 unrolled "r.o" {
// CHECK-NEXT:    tir.load %A
// CHECK-NEXT:    tir.store
// CHECK:       tir.for %o = 0 to 2 unrolled "y.o" {
// CHECK-NEXT:    tir.if [%o * -16 + 15 >= 0] {
// CHECK-NEXT:      %v = tir.load %r[%o * 16 + lane]
// CHECK-NEXT:      tir.store %v, %y[%o * 16 + lane] where [%o * -16 + lane * -1 + 15 >= 0]
// CHECK-NEXT:    }
// CHECK:       tir.for %o = 0 to 2 "z.o" {
// CHECK-NEXT:    %w = tir.load %r[lane]
// CHECK-NEXT:    tir.store %w
