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
  te.bind %i "blockIdx.x"
  te.bind %j "threadIdx.x"
  %s = te.cache_read "A" in "C" at %i scope "shared" [1]
  %so, %si = te.split %s [8, 2]
  // expected-error@+1 {{bind of 'A.shared.1.0' to "threadIdx.x": 'A.shared.1.0' has 8 iterations, 'C.j' in the same kernel 16}}
  te.bind %so "threadIdx.x"
}
