// RUN: opt-tool %s -p tir-storage-rewrite | filecheck %s
// a is over when b begins, and their types are the same; but b may have more elements.

tir.func @f(%n: index, %m: index, %X: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
  %a = tir.alloc "a" scope "global" [%n] : memref<?xf32>
  %b = tir.alloc "b" scope "global" [%m] : memref<?xf32>
  tir.for %i = 0 to min [%n] "a.i" {
    %x = tir.load %X[%i] : memref<64xf32>
    tir.store %x, %a[%i] : memref<?xf32>
  }
  %s = tir.load %a[0] : memref<?xf32>
  tir.for %i = 0 to min [%m] "b.i" {
    tir.store %s, %b[%i] : memref<?xf32>
  }
  tir.for %i = 0 to min [%m] "y.i" {
    %x = tir.load %b[%i] : memref<?xf32>
    tir.store %x, %y[%i] : memref<64xf32>
  }
}

// CHECK:      %a = tir.alloc "a" scope "global" [%n] : memref<?xf32>
// CHECK-NEXT: %b = tir.alloc "b" scope "global" [%m] : memref<?xf32>
// CHECK:      tir.store %s, %b[%i]
