// RUN: opt-tool %s -p tir-storage-rewrite | filecheck %s
// Each iteration of k replaces what later ones read; registers are no memory.

tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  // CHECK: %a = tir.alloc "a" scope "global" : memref<4xf32>
  %a = tir.alloc "a" scope "global" : memref<4xf32>
  // CHECK-NEXT: %b = tir.alloc "b" scope "global" : memref<4xf32>
  %b = tir.alloc "b" scope "global" : memref<4xf32>
  // CHECK-NEXT: %r = tir.alloc "r" scope "register" : memref<4xf32>
  %r = tir.alloc "r" scope "register" : memref<4xf32>
  tir.for %i = 0 to 4 "a.i" {
    %x = tir.load %X[%i] : memref<4xf32>
    tir.store %x, %a[%i] : memref<4xf32>
  }
  tir.for %k = 0 to 2 "b.k" {
    tir.for %i = 0 to 4 "b.i" {
      %x = tir.load %a[%i] : memref<4xf32>
      %s = arith.addf %x, %x : f32
      tir.store %s, %b[%i] : memref<4xf32>
    }
  }
  tir.for %i = 0 to 4 unrolled "r.i" {
    %x = tir.load %b[%i] : memref<4xf32>
    tir.store %x, %r[%i] : memref<4xf32>
  }
  tir.for %i = 0 to 4 unrolled "y.i" {
    %x = tir.load %r[%i] : memref<4xf32>
    tir.store %x, %y[%i] : memref<4xf32>
  }
}
