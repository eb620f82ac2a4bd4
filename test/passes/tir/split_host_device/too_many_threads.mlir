// RUN: opt-tool %s -p tir-split-host-device --verify-diagnostics

tir.func @f(%x: memref<64x32xf32>, %y: memref<64x32xf32>) attributes {outputs = 1 : i64} {
  // expected-error@+1 {{a block of 'i' has 64 * 32 threads; at most 1024 are possible}}
  tir.for %i = 0 to 64 thread "threadIdx.y" "i" {
    tir.for %j = 0 to 32 thread "threadIdx.x" "j" {
      %v = tir.load %x[%i, %j] : memref<64x32xf32>
      tir.store %v, %y[%i, %j] : memref<64x32xf32>
    }
  }
}
