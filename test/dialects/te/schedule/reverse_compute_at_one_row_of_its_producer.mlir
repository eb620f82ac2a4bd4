// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// C reads the first row of B only: the iterations of B's loop that compute the others have nothing for it.

te.func @f(%A: tensor<4x6xf32>) -> tensor<1x6xf32> {
  %b = te.compute "B" [4, 6] (%i, %j) : tensor<4x6xf32> {
    %a = te.read %A[%i, %j] : tensor<4x6xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [1, 6] (%i, %j) : tensor<1x6xf32> {
    %x = te.read %b[%i, %j] : tensor<4x6xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<1x6xf32>
}
te.schedule @f {
  %ci, %cj = te.loops "C" [2]
  %o, %p = te.split %cj [-1, 2]
  %i, %j = te.loops "B" [2]
  // expected-error@+1 {{reverse_compute_at of 'C': it does not read its producer element by element (dimension 0)}}
  %t, %u = te.reverse_compute_at "C" at %i [2]
}
