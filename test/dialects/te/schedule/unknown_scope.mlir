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
  // expected-error@+1 {{unknown memory scope 'nowhere'; it is one of global, register, shared, local}}
  te.set_scope "B" "nowhere"
}
