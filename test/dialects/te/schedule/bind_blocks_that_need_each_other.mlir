// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// Each block has computed an element of B when its loop ends; C reads them turned round.

te.func @f(%A: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %b = te.compute "B" [4, 8] (%i, %j) : tensor<4x8xf32> {
    %x = te.read %A[%i, %j] : tensor<4x8xf32>
    te.yield %x : f32
  }
  %c = te.compute "C" [4, 8] (%i, %j) : tensor<4x8xf32> {
    %x = te.read %b[%i, %j] : tensor<4x8xf32>
    te.yield %x : f32
  }
  te.return %b, %c : tensor<4x8xf32>, tensor<4x8xf32>
}
te.schedule @f {
  %i, %j = te.loops "B" [2]
  %ci, %cj = te.reverse_compute_at "C" at %i [2]
  te.bind %i "threadIdx.x"
  // expected-error@+1 {{the blocks of 'B.j' would have to wait until others have computed b_out}}
  te.bind %j "blockIdx.x"
}
