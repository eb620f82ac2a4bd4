// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-roundtrip | filecheck %s
// What stands beside the loop that indexes the results keeps the two as they are: one thread adds them up.

tir.func @f(%X: memref<4x6xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %k = 0 to 6 thread "threadIdx.x" reduction "y.k" {
    %c = tir.alloc "c" scope "local" : memref<4xf32>
    tir.for %j = 0 to 4 "c.i" {
      tir.block "c" {
        %v = tir.load %X[%j * -1 + 3, %k] : memref<4x6xf32>
        tir.store %v, %c[%j] : memref<4xf32>
      }
    }
    tir.for %i = 0 to 4 "y.i" {
      tir.block "y" init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%i] : memref<4xf32>
      } do {
        %s = tir.load %y[%i] : memref<4xf32>
        %x = tir.load %c[%i * -1 + 3] : memref<4xf32>
        %t = arith.addf %s, %x : f32
        tir.store %t, %y[%i] : memref<4xf32>
      }
    }
  }
}

// CHECK:      tir.for %0 = 0 to 1 thread "blockIdx.x" "y.k.grid" {
// CHECK-NEXT:   tir.for %k = 0 to 6 reduction "y.k" {
// CHECK-NEXT:     %c = tir.alloc "c"
