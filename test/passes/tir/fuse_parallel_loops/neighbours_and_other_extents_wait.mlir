// RUN: opt-tool %s -p tir-fuse-parallel-loops | filecheck %s
// The second loop has another extent; the third writes what other iterations of the second read still: one element of
// each stretch.

tir.func @f(%x: memref<65xf32>, %y: memref<65xf32>, %z: memref<64xf32>) attributes {outputs = 2 : i64} {
  tir.for %i = 0 to 5 parallel "y.i" {
    tir.for %l = 0 to 13 "y.l" {
      %v = tir.load %x[%i * 13 + %l] : memref<65xf32>
      tir.store %v, %y[%i * 13 + %l] : memref<65xf32>
    }
  }
  tir.for %i = 0 to 4 parallel "z.i" {
    tir.for %l = 0 to 16 "z.l" {
      %v = tir.load %y[%i * 16 + %l + 1] : memref<65xf32>
      tir.store %v, %z[%i * 16 + %l] : memref<64xf32>
    }
  }
  tir.for %i = 0 to 4 parallel "again.i" {
    tir.for %l = 0 to 16 "again.l" {
      %v = tir.load %z[%i * 16 + %l] : memref<64xf32>
      tir.store %v, %y[%i * 16 + %l] : memref<65xf32>
    }
  }
}

// CHECK: parallel "y.i"
// CHECK: parallel "z.i"
// CHECK: parallel "again.i"
