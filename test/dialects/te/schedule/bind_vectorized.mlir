// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %c = te.compute "C" [8, 16] (%i, %j) : tensor<8x16xf32> {
    %a = te.read %A[%i, %j] : tensor<8x16xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8x16xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  te.vectorize %j
  // expected-error@+1 {{bind of 'C.j' to "threadIdx.x": it is vectorized}}
  te.bind %j "threadIdx.x"
}
