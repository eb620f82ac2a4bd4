// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-diagnostics

tir.func @f(%X: memref<4x2xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 thread "blockIdx.x" "y.i" {
    tir.for %l = 0 to 2 thread "threadIdx.x" reduction "y.k" {
      // expected-error @below {{its init and its update write different buffers}}
      tir.block "y" init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%i] : memref<4xf32>
      } do {
      }
    }
  }
}
