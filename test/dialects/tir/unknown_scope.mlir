// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%y: memref<4xf32>) {
  // expected-error@+1 {{unknown memory scope 'shared'; it is one of global, register}}
  %t = tir.alloc "t" scope "shared" : memref<4xf32>
}
