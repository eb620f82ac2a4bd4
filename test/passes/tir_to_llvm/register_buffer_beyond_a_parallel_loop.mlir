// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  // expected-error@+1 {{register buffer 'r' is also used in a parallel loop, whose threads have registers of their own, or beyond one; use another scope}}
  %r = tir.alloc "r" scope "register" : memref<1xf32>
  %v = tir.load %x[0] : memref<4xf32>
  tir.store %v, %r[0] : memref<1xf32>
  tir.for %i = 0 to 4 parallel "i" {
    %w = tir.load %r[0] : memref<1xf32>
    tir.store %w, %y[%i] : memref<4xf32>
  }
}
