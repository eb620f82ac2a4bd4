// RUN: opt-tool %s -p tir-lower-thread-allreduce | filecheck %s
// A stage may be called what no value can: its buffers then have numbers.

// CHECK: tir.alloc "2 y.parts" scope "shared" : memref<2xf32>
// CHECK: tir.alloc "2 y.part" scope "local" : memref<f32>
tir.func @f(%X: memref<4x6xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 thread "blockIdx.x" "y.i" {
    tir.for %k = 0 to 3 reduction "y.k.0" {
      tir.for %l = 0 to 2 thread "threadIdx.x" reduction "y.k.1" {
        tir.block "2 y" init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%i] : memref<4xf32>
        } do {
          %s = tir.load %y[%i] : memref<4xf32>
          %x = tir.load %X[%i, %k * 2 + %l] : memref<4x6xf32>
          %t = arith.addf %s, %x : f32
          tir.store %t, %y[%i] : memref<4xf32>
        }
      }
    }
  }
}
