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
  %jo, %ji = te.split %j [4, 4]
  te.bind %i "blockIdx.x"
  te.bind %jo "threadIdx.x"
  %s = te.cache_read "A" in "C" at %ji scope "local" [1]
  // expected-error@+1 {{bind of 'A.local.1' to "threadIdx.x": each iteration of 'C.j.0' has a buffer 'A.local' of its own, of scope "local", which threads cannot fill together}}
  te.bind %s "threadIdx.x"
}
