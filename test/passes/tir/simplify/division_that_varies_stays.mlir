// RUN: opt-tool %s -p tir-simplify | filecheck %s
// 4i + j takes all values below 12.

tir.func @f(%X: memref<2x10xf32>, %y: memref<12xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 3 "y.i" {
    tir.for %j = 0 to 4 "y.j" {
      %x = tir.load %X[(%i * 4 + %j) floordiv 10, (%i * 4 + %j) mod 10] : memref<2x10xf32>
      tir.store %x, %y[%i * 4 + %j] : memref<12xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 3 "y.i" {
// CHECK-NEXT:   tir.for %j = 0 to 4 "y.j" {
// CHECK-NEXT:     %x = tir.load %X[(%i * 4 + %j) floordiv 10, (%i * 4 + %j) mod 10] : memref<2x10xf32>
// CHECK-NEXT:     tir.store %x, %y[%i * 4 + %j] : memref<12xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
