// RUN: opt-tool %s -p tir-skip-padding | filecheck %s
// A maximum takes zeros for values; a sum in memory is read by others meanwhile; two stores are two sums; a difference
// is no sum, and one plus the padding is not zero.

tir.func @f(%X: memref<8xf32>, %Y: memref<8xf32>) {
  %acc = tir.alloc "Y" scope "register" : memref<2xf32>
  tir.for %r = 0 to 3 reduction "Y.r" {
    %a = tir.load %acc[0] : memref<2xf32>
    %d = tir.load %X[%r - 1] where [%r - 1 >= 0] : memref<8xf32>
    %t = arith.maximumf %a, %d : f32
    tir.store %t, %acc[0] : memref<2xf32>
  }
  tir.for %q = 0 to 3 reduction "Y.q" {
    %a = tir.load %Y[0] : memref<8xf32>
    %d = tir.load %X[%q - 1] where [%q - 1 >= 0] : memref<8xf32>
    %t = arith.addf %a, %d : f32
    tir.store %t, %Y[0] : memref<8xf32>
  }
  tir.for %p = 0 to 3 reduction "Y.p" {
    %a = tir.load %acc[0] : memref<2xf32>
    %d = tir.load %X[%p - 1] where [%p - 1 >= 0] : memref<8xf32>
    %t = arith.addf %a, %d : f32
    tir.store %t, %acc[0] : memref<2xf32>
    tir.store %d, %acc[1] : memref<2xf32>
  }
  tir.for %m = 0 to 3 reduction "Y.m" {
    %a = tir.load %acc[0] : memref<2xf32>
    %d = tir.load %X[%m - 1] where [%m - 1 >= 0] : memref<8xf32>
    %t = arith.subf %d, %a : f32
    tir.store %t, %acc[0] : memref<2xf32>
  }
  tir.for %o = 0 to 3 reduction "Y.o" {
    %a = tir.load %acc[0] : memref<2xf32>
    %d = tir.load %X[%o - 1] where [%o - 1 >= 0] : memref<8xf32>
    %one = arith.constant 1.0 : f32
    %e = arith.addf %d, %one : f32
    %t = arith.addf %a, %e : f32
    tir.store %t, %acc[0] : memref<2xf32>
  }
}

// CHECK-NOT: tir.if
// CHECK: %t = arith.maximumf
// CHECK-NOT: tir.if
// CHECK: tir.load %X[%q - 1] where
// CHECK: tir.load %X[%p - 1] where
// CHECK: tir.load %X[%m - 1] where
// CHECK: tir.load %X[%o - 1] where
// CHECK-NOT: tir.if
