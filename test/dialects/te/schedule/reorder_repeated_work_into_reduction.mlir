// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<4x8xf32>) -> tensor<4xf32> {
  %c = te.compute "C" [4] sum [8] (%i, %k) : tensor<4xf32> {
    %a = te.read %A[%i, %k] : tensor<4x8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<4xf32>
}
te.schedule @f {
  %y = te.env_threads "C" ["threadIdx.y"] [3]
  %y1, %i, %k = te.loops "C" [3]
  // expected-error@+1 {{its iterations do the same work over again, and would add each term to the reduction once more}}
  te.reorder %k, %y1
}
