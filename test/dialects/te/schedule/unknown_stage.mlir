// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  // expected-error@+1 {{no stage 'D'; there is 'C'}}
  %i = te.loops "D" [1]
}
