// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// The buffer that B.out copies lives in the block, which C does not stand in.

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %b = te.compute "B" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "B" [1]
  te.blockize %i "B_o"
  te.cache_write "B" scope "local"
  // expected-error@+1 {{compute_inline of 'B.out': it reads B_local, which its readers do not see}}
  te.compute_inline "B.out"
}
