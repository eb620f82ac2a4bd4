// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [2, 4]
  // expected-error@+1 {{stage 'C' has been split already}}
  te.cache_write "C" scope "register"
}
