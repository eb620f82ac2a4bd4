// RUN: opt-tool %s -p tir-lower-blocks | filecheck %s
// A block that writes registers only needs no branch, unless it divides.

tir.func @f(%n: index, %X: memref<4xi32>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
  %r = tir.alloc "r" scope "register" : memref<4xi32>
  tir.for %i = 0 to 4 unrolled "r.i" {
    tir.block "r" where [%n - %i - 1 >= 0] {
      %x = tir.load %X[%i] : memref<4xi32>
      tir.store %x, %r[%i] : memref<4xi32>
    }
  }
  tir.for %j = 0 to 4 unrolled "q.i" {
    tir.block "q" where [%n - %j - 1 >= 0] {
      %x = tir.load %X[%j] : memref<4xi32>
      %d = arith.divsi %x, %x : i32
      tir.store %d, %r[%j] : memref<4xi32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 4 unrolled "r.i" {
// CHECK-NEXT:   %x = tir.load %X[%i] where [%n + %i * -1 - 1 >= 0] : memref<4xi32>
// CHECK-NEXT:   tir.store %x, %r[%i] where [%n + %i * -1 - 1 >= 0] : memref<4xi32>
// CHECK-NEXT: }
// CHECK-NEXT: tir.for %j = 0 to 4 unrolled "q.i" {
// CHECK-NEXT:   tir.if [%n + %j * -1 - 1 >= 0] {
// CHECK-NEXT:     %x = tir.load %X[%j] : memref<4xi32>
// CHECK-NEXT:     %d = arith.divsi %x, %x : i32
// CHECK-NEXT:     tir.store %d, %r[%j] : memref<4xi32>
