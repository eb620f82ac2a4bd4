// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<8x16xf32>) -> tensor<8xf32> {
  %c = te.compute "C" [8] sum [16] (%i, %k) : tensor<8xf32> {
    %a = te.read %A[%i, %k] : tensor<8x16xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  // expected-error@+1 {{bind of 'C.k' to "blockIdx.x": its iterations add into the same element, which only the threads of one block can}}
  te.bind %k "blockIdx.x"
}
