// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// What the first iteration finds in B has been overwritten when the second thread comes to it.

te.func @f(%A: tensor<10x8xf32>) -> tensor<8x8xf32> {
  %b = te.compute "B" [10, 8] (%i, %j) : tensor<10x8xf32> {
    %a = te.read %A[%i, %j] : tensor<10x8xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8, 8] sum [3] (%i, %j, %k) : tensor<8x8xf32> {
    %x = te.read %b[%i + %k, %j] : tensor<10x8xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8x8xf32>
}
te.schedule @f {
  %i, %j, %k = te.loops "C" [3]
  %y, %x = te.compute_at "B" at %i [2]
  te.rolling_buffer "B" at %i
  // expected-error@+1 {{env_threads of 'C': it reads what an earlier thread has computed}}
  %t = te.env_threads "C" ["threadIdx.x"] [2]
}
