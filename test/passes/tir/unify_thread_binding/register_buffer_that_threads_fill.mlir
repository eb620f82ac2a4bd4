// RUN: opt-tool %s -p tir-unify-thread-binding --verify-diagnostics

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    // expected-error@+1 {{the buffer 'r' of scope "register" stands outside of the loop 'i', whose threads fill it}}
    %r = tir.alloc "r" scope "register" : memref<4xf32>
    tir.for %i = 0 to 4 thread "threadIdx.x" "i" {
      %v = tir.load %x[%i] : memref<4xf32>
      tir.store %v, %r[%i] : memref<4xf32>
    }
  }
}
