// RUN: opt-tool %s -p tir-split-host-device --verify-diagnostics
// RUN: opt-tool %s -p 'tir-split-host-device{max-shared=65536}' | filecheck %s
// CHECK: tir.launch @f_kernel0 grid [2] block [32]

tir.func @f(%x: memref<2x32xf32>, %y: memref<2x32xf32>) attributes {outputs = 1 : i64} {
  // expected-error@+1 {{a block of 'b' has 65536 bytes of shared memory; at most 49152 are possible}}
  tir.for %b = 0 to 2 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<512x32xf32>
    tir.for %j = 0 to 32 thread "threadIdx.x" "j" {
      %v = tir.load %x[%b, %j] : memref<2x32xf32>
      tir.store %v, %s[0, %j] : memref<512x32xf32>
      %w = tir.load %s[0, %j] : memref<512x32xf32>
      tir.store %w, %y[%b, %j] : memref<2x32xf32>
    }
  }
}
