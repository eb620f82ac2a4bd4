// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<9xf32>) -> tensor<8xf32> {
  %b = te.compute "B" [9] (%i) : tensor<9xf32> {
    %a = te.read %A[%i] : tensor<9xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] : tensor<9xf32>
    %y = te.read %b[%i + 1] : tensor<9xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "B" [1]
  // expected-error@+1 {{it reads B at several places}}
  %t = te.reverse_compute_at "C" at %i [1]
}
