// RUN: opt-tool %s -p tir-storage-rewrite | filecheck %s
// b is computed in place of a; c is not, since it reads b from the other end, and cannot have a's memory, which is b's.

tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  %a = tir.alloc "a" scope "global" : memref<8xf32>
  %b = tir.alloc "b" scope "global" : memref<8xf32>
  %c = tir.alloc "c" scope "global" : memref<8xf32>
  tir.for %i = 0 to 8 "a.i" {
    %x = tir.load %X[%i] : memref<8xf32>
    tir.store %x, %a[%i] : memref<8xf32>
  }
  tir.for %i = 0 to 8 "b.i" {
    %x = tir.load %a[%i] : memref<8xf32>
    tir.store %x, %b[%i] : memref<8xf32>
  }
  tir.for %i = 0 to 8 "c.i" {
    %x = tir.load %b[7 - %i] : memref<8xf32>
    tir.store %x, %c[%i] : memref<8xf32>
  }
  tir.for %i = 0 to 8 "y.i" {
    %x = tir.load %c[%i] : memref<8xf32>
    tir.store %x, %y[%i] : memref<8xf32>
  }
}

// CHECK:      %a = tir.alloc "a" scope "global" : memref<8xf32>
// CHECK-NEXT: %c = tir.alloc "c" scope "global" : memref<8xf32>
// CHECK-NEXT: tir.for %i = 0 to 8 "a.i" {
// CHECK:      tir.for %i = 0 to 8 "b.i" {
// CHECK-NEXT:   %x = tir.load %a[%i] : memref<8xf32>
// CHECK-NEXT:   tir.store %x, %a[%i] : memref<8xf32>
// CHECK:      tir.for %i = 0 to 8 "c.i" {
// CHECK-NEXT:   %x = tir.load %a[%i * -1 + 7] : memref<8xf32>
// CHECK-NEXT:   tir.store %x, %c[%i] : memref<8xf32>
