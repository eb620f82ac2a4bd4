// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// The second thread would start the sums anew and add nothing to them.

te.func @f(%A: tensor<8x16xf32>) -> tensor<8xf32> {
  %c = te.compute "C" [8] sum [16] (%i, %k) : tensor<8xf32> {
    %a = te.read %A[%i, %k] : tensor<8x16xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %t = te.env_threads "C" ["threadIdx.x"] [2]
  %x, %i, %k = te.loops "C" [3]
  te.decompose_reduction "C" at %k
  // expected-error@+1 {{store_predicate of 'C': every iteration of 'C.threadIdx.x' starts it anew}}
  te.store_predicate "C" where [%t == 0]
}
