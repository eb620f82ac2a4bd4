// RUN: opt-tool %s -p tir-remove-no-op | filecheck %s
// u is needed only for t, which nobody reads.

tir.func @f(%n: index, %X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  %u = tir.alloc "u" scope "global" : memref<8xf32>
  %t = tir.alloc "t" scope "global" : memref<8xf32>
  tir.for %i = 0 to 8 "u.i" {
    %x = tir.load %X[%i] : memref<8xf32>
    tir.store %x, %u[%i] : memref<8xf32>
  }
  tir.for %i = 0 to 8 "t.i" {
    tir.if [%n - %i >= 0] {
      %x = tir.load %u[%i] : memref<8xf32>
      tir.store %x, %t[%i] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 "y.i" {
    %x = tir.load %X[%i] : memref<8xf32>
    tir.if [%i - 8 >= 0] {
      tir.store %x, %y[0] : memref<8xf32>
    }
    tir.store %x, %y[%i] : memref<8xf32>
  }
}

// CHECK-LABEL: tir.func @f
// CHECK-NEXT:   tir.for %i = 0 to 8 "y.i" {
// CHECK-NEXT:     %x = tir.load %X[%i] : memref<8xf32>
// CHECK-NEXT:     tir.store %x, %y[%i] : memref<8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
