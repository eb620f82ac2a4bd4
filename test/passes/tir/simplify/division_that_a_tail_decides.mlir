// RUN: opt-tool %s -p tir-simplify | filecheck %s
// 4i + j stays below 10 in the tail, though not in the box of both loops. Elsewhere digits are put together.

tir.func @f(%X: memref<4x30xf32>, %y: memref<12xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 3 "y.i" {
    tir.for %j = 0 to 4 min [%i * -4 + 10] "y.j" {
      %x = tir.load %X[(%i * 4 + %j) floordiv 10, (%i * 4 + %j) mod 10] : memref<4x30xf32>
      %z = tir.load %X[%i, (%j floordiv 2) * 2 + %j mod 2] : memref<4x30xf32>
      %s = arith.addf %x, %z : f32
      tir.store %s, %y[(%i * 4 + %j) mod 12] : memref<12xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 3 "y.i" {
// CHECK-NEXT:   tir.for %j = 0 to 4 min [%i * -4 + 10] "y.j" {
// CHECK-NEXT:     %x = tir.load %X[0, %i * 4 + %j] : memref<4x30xf32>
// CHECK-NEXT:     %z = tir.load %X[%i, %j] : memref<4x30xf32>
// CHECK-NEXT:     %s = arith.addf %x, %z : f32
// CHECK-NEXT:     tir.store %s, %y[%i * 4 + %j] : memref<12xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
