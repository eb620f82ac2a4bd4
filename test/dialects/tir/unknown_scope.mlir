// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%y: memref<4xf32>) {
  // expected-error@+1 {{unknown memory scope 'nowhere'; it is one of global, register, shared, local}}
  %t = tir.alloc "t" scope "nowhere" : memref<4xf32>
}
