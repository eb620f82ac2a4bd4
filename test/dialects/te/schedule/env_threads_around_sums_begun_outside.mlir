// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// The second thread would add all terms to what the first has added up.

te.func @f(%A: tensor<8x16xf32>) -> tensor<8xf32> {
  %c = te.compute "C" [8] sum [16] (%i, %k) : tensor<8xf32> {
    %a = te.read %A[%i, %k] : tensor<8x16xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  te.decompose_reduction "C" at %i
  %one = te.env_threads "C" ["threadIdx.y"] [1]
  // expected-error@+1 {{env_threads of 'C': it reads what an earlier thread has computed}}
  %t = te.env_threads "C" ["threadIdx.x"] [2]
}
