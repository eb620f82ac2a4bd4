// RUN: opt-tool %s -p tir-simplify | filecheck %s
// The last tile has two elements, and the first element no neighbour.

tir.func @f(%X: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 3 "y.i" {
    tir.for %j = 0 to 4 min [%i * -4 + 10] "y.j" {
      %x = tir.load %X[%i * 4 + %j - 1] where [%i * 4 + %j >= 1] : memref<10xf32>
      tir.store %x, %y[%i * 4 + %j] : memref<10xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f(%X: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 3 "y.i" {
// CHECK-NEXT:     tir.for %j = 0 to 4 min [%i * -4 + 10] "y.j" {
// CHECK-NEXT:       %x = tir.load %X[%i * 4 + %j - 1] where [%i * 4 + %j - 1 >= 0] : memref<10xf32>
// CHECK-NEXT:       tir.store %x, %y[%i * 4 + %j] : memref<10xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
