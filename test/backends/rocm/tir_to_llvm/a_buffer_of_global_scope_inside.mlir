// RUN: opt-tool %s -p rocm-tir-to-llvm --verify-diagnostics

tir.func @f_kernel0(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64, device} {
  tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
    // expected-error@+1 {{rocm-tir-to-llvm: the buffer 'g' of scope "global" is made inside of a kernel; run tir-unify-thread-binding}}
    %g = tir.alloc "g" scope "global" : memref<4xf32>
    %v = tir.load %x[%t] : memref<4xf32>
    tir.store %v, %g[%t] : memref<4xf32>
  }
}
