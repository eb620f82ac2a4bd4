// RUN: opt-tool %s -p 'tir-unroll-loop{explicit-unroll=true}' | filecheck %s

tir.func @f(%X: memref<5xf32>, %y: memref<5xf32>) attributes {outputs = 1 : i64} {
  tir.for %o = 0 to 3 "y.o" {
    tir.for %k = 0 to 2 min [5 - %o * 2] unrolled "y.k" {
      %x = tir.load %X[%o * 2 + %k] : memref<5xf32>
      tir.store %x, %y[%o * 2 + %k] : memref<5xf32>
    }
  }
}

// CHECK:      tir.for %o = 0 to 3 "y.o" {
// CHECK-NEXT:   %x = tir.load %X[%o * 2] : memref<5xf32>
// CHECK-NEXT:   tir.store %x, %y[%o * 2] : memref<5xf32>
// CHECK-NEXT:   tir.if [%o * -2 + 3 >= 0] {
// CHECK-NEXT:     %x_1 = tir.load %X[%o * 2 + 1] : memref<5xf32>
// CHECK-NEXT:     tir.store %x_1, %y[%o * 2 + 1] : memref<5xf32>
