// RUN: opt-tool %s -p tir-simplify | filecheck %s
// No iteration of i leaves more than 6. Lanes keep their number, and a loop whose bound is never positive goes.

tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 2 "y.i" {
    tir.for %j = 0 to 8 min [%i * -1 + 6] "y.j" {
      %x = tir.load %X[%j] : memref<8xf32>
      tir.store %x, %y[%j] : memref<8xf32>
    }
    tir.for %l = 0 to 8 min [%i * -1 + 6] vectorized "y.l" {
      %x = tir.load %X[%l] : memref<8xf32>
      tir.store %x, %y[%l] : memref<8xf32>
    }
    tir.for %k = 0 to 8 min [%i * -1] "y.k" {
      %x = tir.load %X[%k] : memref<8xf32>
      tir.store %x, %y[%k] : memref<8xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 2 "y.i" {
// CHECK-NEXT:   tir.for %j = 0 to 6 min [%i * -1 + 6] "y.j" {
// CHECK-NEXT:     %x = tir.load %X[%j] : memref<8xf32>
// CHECK-NEXT:     tir.store %x, %y[%j] : memref<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %l = 0 to 8 min [%i * -1 + 6] vectorized "y.l" {
// CHECK-NEXT:     %x = tir.load %X[%l] : memref<8xf32>
// CHECK-NEXT:     tir.store %x, %y[%l] : memref<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: }
