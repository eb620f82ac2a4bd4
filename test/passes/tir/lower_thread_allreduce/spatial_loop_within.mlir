// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-diagnostics

tir.func @f(%X: memref<4x6xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %k = 0 to 6 thread "threadIdx.x" reduction "y.k" {
    tir.for %i = 0 to 4 "y.i" {
      // expected-error@+1 {{the reduction 'y' cannot run across threads: its results differ between the loops within 'y.k'; reorder that loop inwards}}
      tir.block "y" init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%i] : memref<4xf32>
      } do {
        %s = tir.load %y[%i] : memref<4xf32>
        %x = tir.load %X[%i, %k] : memref<4x6xf32>
        %t = arith.addf %s, %x : f32
        tir.store %t, %y[%i] : memref<4xf32>
      }
    }
  }
}
