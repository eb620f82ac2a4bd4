// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x2xf32>) {
  %b = te.compute "B" [8] (%i) : tensor<8xf32> {
    %a = te.read %A[%i] : tensor<8xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] : tensor<8xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  %d = te.compute "D" [8, 2] (%i, %j) : tensor<8x2xf32> {
    %x = te.read %b[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %c, %d : tensor<8xf32>, tensor<8x2xf32>
}
te.schedule @f {
  // expected-error@+1 {{its producer is also read by 'D'}}
  te.reverse_compute_inline "C"
}
