// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %b = te.compute "B" [4] (%i) : tensor<4xf32> {
    %a = te.read %A[%i] : tensor<4xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [4] (%i) : tensor<4xf32> {
    %x = te.read %b[%i] : tensor<4xf32>
    te.yield %x : f32
  }
  %d = te.compute "D" [4] (%i) : tensor<4xf32> {
    %x = te.read %b[%i] : tensor<4xf32>
    %y = te.read %c[%i] : tensor<4xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  te.return %d : tensor<4xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  // expected-error@+1 {{it is also read outside the loop 'C.i'}}
  %t = te.compute_at "B" at %i [1]
}
