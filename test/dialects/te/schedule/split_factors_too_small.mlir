// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<10xf32>) -> tensor<10xf32> {
  %c = te.compute "C" [10] (%i) : tensor<10xf32> {
    %a = te.read %A[%i] : tensor<10xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<10xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  // expected-error@+1 {{factors [2, 4] cover 8 of 10 iterations}}
  %o, %n = te.split %i [2, 4]
}
