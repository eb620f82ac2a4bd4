// RUN: opt-tool %s -p tir-thread-sync --verify-diagnostics

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<8xf32>
    tir.for %t = 0 to 8 thread "threadIdx.x" "t" {
      tir.if [%t * -1 + 5 >= 0] {
        %v = tir.load %x[%t] : memref<8xf32>
        // expected-error@+1 {{threads exchange elements of 's' in a statement that not all of them run}}
        tir.store %v, %s[%t] : memref<8xf32>
        %w = tir.load %s[%t * -1 + 5] : memref<8xf32>
        tir.store %w, %y[%t] : memref<8xf32>
      }
    }
  }
}
