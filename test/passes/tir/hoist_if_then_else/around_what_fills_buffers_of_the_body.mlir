// RUN: opt-tool %s -p tir-hoist-if-then-else | filecheck %s
// Weights are loaded for the sum alone: where there is none to make, they need not be. What others read is written.

tir.func @f(%n: index, %W: memref<4x8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) attributes {outputs = 2 : i64} {
  tir.for %r = 0 to 4 reduction "y.r" {
    %w = tir.alloc "w" scope "register" : memref<8xf32>
    tir.for %l = 0 to 8 "w.l" {
      %v = tir.load %W[%r, %l] : memref<4x8xf32>
      tir.store %v, %w[%l] : memref<8xf32>
    }
    tir.if [%n - 1 >= 0] {
      tir.for %i = 0 to 8 "y.i" {
        %v = tir.load %w[%i] : memref<8xf32>
        tir.store %v, %y[%i] : memref<8xf32>
      }
    }
  }
  tir.for %q = 0 to 4 "z.q" {
    tir.for %l = 0 to 8 "z.l" {
      %v = tir.load %W[%q, %l] : memref<4x8xf32>
      tir.store %v, %z[%l] : memref<8xf32>
    }
    tir.if [%n - 1 >= 0] {
      %v = tir.load %z[0] : memref<8xf32>
      tir.store %v, %y[%q] : memref<8xf32>
    }
  }
}

// CHECK:      tir.if [%n - 1 >= 0] {
// CHECK-NEXT:   tir.for %r = 0 to 4 reduction "y.r" {
// CHECK-NEXT:     %w = tir.alloc "w"
// CHECK-NEXT:     tir.for %l = 0 to 8 "w.l" {
// CHECK:          tir.for %i = 0 to 8 "y.i" {
// CHECK:      tir.for %q = 0 to 4 "z.q" {
// CHECK-NEXT:   tir.for %l = 0 to 8 "z.l" {
// CHECK:        tir.if [%n - 1 >= 0] {
