// RUN: opt-tool %s -p tir-fuse-parallel-loops | filecheck %s
// Iteration i of the second loop reads the stretch of %y that iteration i of the first has written, in another order; the
// third writes a stretch of another buffer. One loop, and nobody waits. A buffer between them stands before it.

tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>, %u: memref<4x3xf32>) attributes {outputs = 3 : i64} {
  tir.for %i = 0 to 4 parallel "y.i" {
    tir.for %l = 0 to 16 "y.l" {
      %v = tir.load %x[%i * 16 + %l] : memref<64xf32>
      tir.store %v, %y[%i * 16 + %l] : memref<64xf32>
    }
  }
  %one = arith.constant 1.000000e+00 : f32
  tir.for %j = 0 to 4 parallel "z.i" {
    tir.for %l = 0 to 16 "z.l" {
      %v = tir.load %y[%j * 16 + %l * -1 + 15] : memref<64xf32>
      %w = arith.addf %v, %one : f32
      tir.store %w, %z[%j * 16 + %l] : memref<64xf32>
    }
  }
  tir.for %k = 0 to 4 parallel "u.i" {
    tir.for %l = 0 to 3 "u.l" {
      %v = tir.load %z[%k * 16 + %l] : memref<64xf32>
      tir.store %v, %u[%k, %l] : memref<4x3xf32>
    }
  }
}

// CHECK:      %one = arith.constant
// CHECK-NEXT: tir.for %i = 0 to 4 parallel "y.i" {
// CHECK:        tir.for %l = 0 to 16 "z.l" {
// CHECK-NEXT:     %v = tir.load %y[%i * 16 + %l * -1 + 15]
// CHECK:        tir.for %l = 0 to 3 "u.l" {
// CHECK-NEXT:     %v = tir.load %z[%i * 16 + %l]
// CHECK-NOT:  parallel
