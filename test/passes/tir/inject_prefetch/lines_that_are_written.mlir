// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s
// The tile that an iteration stores to, 4 rows of two lines, while the 32 steps of the sum go by: one in four steps.

tir.func @f(%x: memref<16x32xf32>, %w: memref<32x32xf32>, %y: memref<16x64xf32>) attributes {outputs = 1 : i64} {
  tir.for %io = 0 to 4 "y.i.0" attributes {prefetch = [{tensor = "arg2", offset = 0 : i64, spread = "s.k", write}]} {
    %s = tir.alloc "s" scope "register" : memref<4x32xf32>
    tir.for %k = 0 to 32 reduction "s.k" {
      tir.for %i = 0 to 4 "s.i" {
        tir.for %j = 0 to 32 "s.j" {
          %a = tir.load %x[%io * 4 + %i, %k] : memref<16x32xf32>
          %b = tir.load %w[%k, %j] : memref<32x32xf32>
          %m = arith.mulf %a, %b : f32
          %o = tir.load %s[%i, %j] : memref<4x32xf32>
          %n = arith.addf %o, %m : f32
          tir.store %n, %s[%i, %j] : memref<4x32xf32>
        }
      }
    }
    tir.for %i = 0 to 4 "y.i.1" {
      tir.for %j = 0 to 32 "y.j" {
        %v = tir.load %s[%i, %j] : memref<4x32xf32>
        tir.store %v, %y[%io * 4 + %i, %j] : memref<16x64xf32>
      }
    }
  }
}

// Nothing is stored to it any more.
tir.func @g(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 16 "y.i" attributes {prefetch = [{tensor = "x", offset = 0 : i64, write}]} {
    %v = tir.load %x[%i] : memref<16xf32>
    tir.store %v, %y[%i] : memref<16xf32>
  }
}

// CHECK-LABEL: tir.func @f(
// CHECK:         tir.for %k = 0 to 32 reduction "s.k" {
// CHECK-NEXT:      tir.prefetch %y[%io * 4 + %k floordiv 8, (%k floordiv 4) mod 2 * 16] write locality 3 : memref<16x64xf32>
// CHECK-NEXT:      tir.for %i = 0 to 4 "s.i" {
// CHECK-NOT:       tir.prefetch
// CHECK-LABEL: tir.func @g(
// CHECK-NEXT:    tir.for %i = 0 to 16 "y.i" {
// CHECK-NEXT:      tir.load
