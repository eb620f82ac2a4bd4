// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// Blocks see no memory of each other but that of the whole device.

te.func @f(%A: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %c = te.compute "C" [6, 8] (%i, %j) : tensor<6x8xf32> {
    %x = te.read %A[%i, %j] : tensor<6x8xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<6x8xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  %a = te.cache_read "A" in "C" at %i scope "local" [1]
  te.bind %a "blockIdx.x"
  // expected-error@+1 {{the blocks of 'A.local.1' would fill the buffer 'A.local' together, and each block has one of its own}}
  te.bind %i "blockIdx.y"
}
