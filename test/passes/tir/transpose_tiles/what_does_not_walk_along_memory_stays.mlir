// RUN: opt-tool %s -p tir-transpose-tiles | filecheck %s
// Lanes beside each other, steps of two, a sum, a buffer that is written in the same loop, bytes, an index that differs
// by iteration or is written in the loop: all stay.

tir.func @f(%X: memref<64xf32>, %B: memref<8x8xi8>, %N: memref<8xindex>, %Y: memref<8x4xf32>, %Z: memref<8x4xi8>) {
  tir.for %a = 0 to 8 "Y.a" {
    %v = tir.load %X[lane + %a] : memref<64xf32>, vector<4xf32>
    tir.store %v, %Y[%a, lane] : memref<8x4xf32>, vector<4xf32>
  }
  tir.for %b = 0 to 8 "Y.b" {
    %v = tir.load %X[lane * 16 + %b * 2] : memref<64xf32>, vector<4xf32>
    tir.store %v, %Y[%b, lane] : memref<8x4xf32>, vector<4xf32>
  }
  tir.for %c = 0 to 8 reduction "Y.c" {
    %v = tir.load %X[lane * 8 + %c] : memref<64xf32>, vector<4xf32>
    %s = tir.load %Y[0, lane] : memref<8x4xf32>, vector<4xf32>
    %t = arith.addf %s, %v : vector<4xf32>
    tir.store %t, %Y[0, lane] : memref<8x4xf32>, vector<4xf32>
  }
  tir.for %d = 0 to 8 "Y.d" {
    %v = tir.load %X[lane * 8 + %d] : memref<64xf32>, vector<4xf32>
    tir.store %v, %X[%d * 4 + lane + 32] : memref<64xf32>, vector<4xf32>
  }
  tir.for %e = 0 to 8 "Z.e" {
    %v = tir.load %B[lane, %e] : memref<8x8xi8>, vector<4xi8>
    tir.store %v, %Z[%e, lane] : memref<8x4xi8>, vector<4xi8>
  }
  tir.for %g = 0 to 8 "Y.g" {
    %n = tir.load %N[%g] : memref<8xindex>
    %v = tir.load %X[lane * 8 + %g + %n] : memref<64xf32>, vector<4xf32>
    tir.store %v, %Y[%g, lane] : memref<8x4xf32>, vector<4xf32>
  }
  tir.for %h = 0 to 8 "Y.h" {
    %n = tir.load %N[0] : memref<8xindex>
    %v = tir.load %X[lane * 8 + %h + %n] : memref<64xf32>, vector<4xf32>
    tir.store %v, %Y[%h, lane] : memref<8x4xf32>, vector<4xf32>
    %i = tir.index [%h] : index
    tir.store %i, %N[0] : memref<8xindex>
  }
}

// CHECK-NOT: tir.shuffle
// CHECK:     tir.for %a = 0 to 8 "Y.a"
// CHECK:     tir.for %b = 0 to 8 "Y.b"
// CHECK:     tir.for %c = 0 to 8 reduction "Y.c"
// CHECK:     tir.for %d = 0 to 8 "Y.d"
// CHECK:     tir.for %e = 0 to 8 "Z.e"
// CHECK:     tir.for %g = 0 to 8 "Y.g"
// CHECK:     tir.for %h = 0 to 8 "Y.h"
