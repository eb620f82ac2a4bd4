// RUN: opt-tool %s -p tir-unify-thread-binding --verify-diagnostics
// No block knows when another has stored its element.

tir.func @f(%x: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>) attributes {outputs = 2 : i64} {
  tir.for %t = 0 to 2 thread "threadIdx.x" "t" {
    // expected-error@+1 {{the blocks of 'b.i' would have to wait for others that compute b, or fill it together}}
    tir.for %i = 0 to 8 thread "blockIdx.x" "b.i" {
      %v = tir.load %x[%i] : memref<8xf32>
      tir.store %v, %b[%i] : memref<8xf32>
    }
    tir.for %j = 0 to 8 "c.i" {
      %w = tir.load %b[%j * -1 + 7] : memref<8xf32>
      tir.store %w, %c[%j] : memref<8xf32>
    }
  }
}
