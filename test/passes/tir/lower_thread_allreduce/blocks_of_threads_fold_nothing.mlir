// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-diagnostics

tir.func @f(%X: memref<6xf32>, %y: memref<1xf32>) attributes {outputs = 1 : i64} {
  // expected-error@+1 {{'y.k' is bound to 'blockIdx.x', but adds into the same element, which only the threads of one block can}}
  tir.for %k = 0 to 6 thread "blockIdx.x" reduction "y.k" {
    tir.block "y" init {
      %zero = arith.constant 0.0 : f32
      tir.store %zero, %y[0] : memref<1xf32>
    } do {
      %s = tir.load %y[0] : memref<1xf32>
      %x = tir.load %X[%k] : memref<6xf32>
      %t = arith.addf %s, %x : f32
      tir.store %t, %y[0] : memref<1xf32>
    }
  }
}
