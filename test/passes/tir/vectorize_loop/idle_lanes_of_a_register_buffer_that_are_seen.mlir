// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// @seen: all four elements are read later, those beyond the tail must keep what they have.
// @short: the buffer has fewer elements than the loop has lanes.

tir.func @seen(%A: memref<10xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %acc = tir.alloc "acc" scope "register" : memref<4xf32>
  tir.for %z = 0 to 4 vectorized "acc.init" {
    %zero = arith.constant 0.0 : f32
    tir.store %zero, %acc[%z] : memref<4xf32>
  }
  tir.for %o = 0 to 3 reduction "k.0" {
    tir.for %i = 0 to 4 min [%o * -4 + 10] vectorized "k.1" {
      %s = tir.load %acc[%i] : memref<4xf32>
      %a = tir.load %A[%o * 4 + %i] : memref<10xf32>
      %m = arith.addf %s, %a : f32
      tir.store %m, %acc[%i] : memref<4xf32>
    }
  }
  tir.for %j = 0 to 4 vectorized "y.j" {
    %r = tir.load %acc[%j] : memref<4xf32>
    tir.store %r, %y[%j] : memref<4xf32>
  }
}
tir.func @short(%A: memref<2x3xf32>, %y: memref<2x3xf32>) attributes {outputs = 1 : i64} {
  %r = tir.alloc "r" scope "register" : memref<2x3xf32>
  tir.for %u = 0 to 2 unrolled "r.u" {
    tir.for %i = 0 to 4 min [3] vectorized "r.i" {
      %a = tir.load %A[%u, %i] : memref<2x3xf32>
      tir.store %a, %r[%u, %i] : memref<2x3xf32>
    }
  }
  tir.for %v = 0 to 2 unrolled "y.u" {
    tir.for %j = 0 to 4 min [3] vectorized "y.j" {
      %b = tir.load %r[%v, %j] : memref<2x3xf32>
      tir.store %b, %y[%v, %j] : memref<2x3xf32>
    }
  }
}

// CHECK-LABEL: tir.func @seen
// CHECK:         tir.store %0, %acc[lane] : memref<4xf32>, vector<4xf32>
// CHECK:           %s = tir.load %acc[lane] : memref<4xf32>, vector<4xf32>
// CHECK:           tir.store %m, %acc[lane] where [%o * -4 + lane * -1 + 9 >= 0] : memref<4xf32>, vector<4xf32>

// CHECK-LABEL: tir.func @short
// CHECK:         %a = tir.load %A[%u, lane] where [lane * -1 + 2 >= 0] : memref<2x3xf32>, vector<4xf32>
// CHECK-NEXT:    tir.store %a, %r[%u, lane] where [lane * -1 + 2 >= 0] : memref<2x3xf32>, vector<4xf32>
// CHECK:         %b = tir.load %r[%v, lane] where [lane * -1 + 2 >= 0] : memref<2x3xf32>, vector<4xf32>
