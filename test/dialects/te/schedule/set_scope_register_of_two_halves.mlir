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
  te.double_buffer "B"
  // expected-error@+1 {{set_scope of 'B' to 'register': it is to be aligned, or to have two halves, which registers have not}}
  te.set_scope "B" "register"
}
