// RUN: opt-tool %s -p te-to-tir,tir-lower-blocks,tir-to-llvm --verify-diagnostics

te.func @f(%A: tensor<4x16xf32>, %W: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %c = te.compute "C" [4, 8] sum [16] (%i, %j, %k) : tensor<4x8xf32> {
    %a = te.read %A[%i, %k] : tensor<4x16xf32>
    %w = te.read %W[%k, %j] : tensor<16x8xf32>
    %p = arith.mulf %a, %w : f32
    te.yield %p : f32
  }
  te.return %c : tensor<4x8xf32>
}
te.schedule @f {
  %i, %j, %k = te.loops "C" [3]
  // expected-error @below {{register buffer 'W.register' is indexed by the loop variable of 'W.register.0'; unroll that loop or use another scope}}
  %t = te.cache_read "W" in "C" at %j scope "register" [1]
}
