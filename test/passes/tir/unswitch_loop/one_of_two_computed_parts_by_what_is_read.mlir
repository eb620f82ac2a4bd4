// RUN: opt-tool %s -p tir-unswitch-loop | filecheck %s
// RUN: opt-tool %s -p 'tir-unswitch-loop{ops=5}' | filecheck %s
// RUN: sed 's/ attributes {pragma_unswitch = 1 : i64}//' %s | opt-tool - -p 'tir-unswitch-loop{ops=5}' | filecheck %s --check-prefix=FEW
// Which part a row is made of is an integer that was read: it is read before the loop, and each part is computed where it
// is taken. The pragma says so however much stands in the loop.

tir.func @f(%far: memref<8xi32>, %A: memref<8x16xf32>, %B: memref<8x16xf32>, %y: memref<8x16xf32>) {
  tir.for %i = 0 to 8 parallel "y.i" {
    %p = tir.alloc "p" scope "global" : memref<16xf32>
    tir.for %k = 0 to 16 "p.k" {
      %a = tir.load %A[%i, %k] : memref<8x16xf32>
      tir.store %a, %p[%k] : memref<16xf32>
    }
    %q = tir.alloc "q" scope "register" : memref<16xf32>
    tir.for %l = 0 to 16 vectorized "q.l" {
      %b = tir.load %B[%i, %l] : memref<8x16xf32>
      tir.store %b, %q[%l] : memref<16xf32>
    }
    tir.for %j = 0 to 16 "y.j" attributes {pragma_unswitch = 1 : i64} {
      %n = tir.load %far[%i] : memref<8xi32>
      %m = arith.index_cast %n : i32 to index
      %c = tir.condition [%m - 1 >= 0] : i1
      %d = tir.load %p[%j] : memref<16xf32>
      %e = tir.load %q[%j] : memref<16xf32>
      %v = arith.select %c, %d, %e : f32
      tir.store %v, %y[%i, %j] : memref<8x16xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 8 parallel "y.i" {
// CHECK-NEXT:   %n = tir.load %far[%i]
// CHECK-NEXT:   %m = arith.index_cast %n
// CHECK-NEXT:   tir.if [%m - 1 >= 0] {
// CHECK-NEXT:     %p = tir.alloc "p"
// CHECK-NEXT:     tir.for %k
// CHECK-NOT:      %q
// CHECK:          tir.for %j = 0 to 16 "y.j"
// CHECK-NEXT:       %d = tir.load %p[%j]
// CHECK-NEXT:       tir.store %d, %y[%i, %j]
// CHECK:        tir.if [%m * -1 >= 0] {
// CHECK-NEXT:     %q = tir.alloc "q"
// CHECK-NOT:      %p
// CHECK:          %e = tir.load %q[%j]
// CHECK-NEXT:     tir.store %e, %y[%i, %j]

// FEW-NOT: tir.if
// FEW:     tir.for %j = 0 to 16 "y.j"
// FEW:     %v = arith.select %c, %d, %e
// FEW-NOT: tir.if
