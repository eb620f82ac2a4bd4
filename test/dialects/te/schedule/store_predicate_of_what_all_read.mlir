// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %b = te.compute "B" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %bi = te.compute_at "B" at %i [1]
  %t = te.env_threads "C" ["threadIdx.x"] [2]
  // expected-error@+1 {{store_predicate of 'B': every iteration of 'C.threadIdx.x' reads what it computes}}
  te.store_predicate "B" where [%t == 0]
}
