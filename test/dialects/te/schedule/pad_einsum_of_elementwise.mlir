// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %b = te.compute "B" [6, 8] (%i, %j) : tensor<6x8xf32> {
    %a = te.read %A[%i, %j] : tensor<6x8xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [6, 8] (%i, %j) : tensor<6x8xf32> {
    %x = te.read %b[%i, %j] : tensor<6x8xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<6x8xf32>
}
te.schedule @f {
  // expected-error@+1 {{pad_einsum of 'B': its terms are not combined by one associative op}}
  te.pad_einsum "B" [4, 4]
}
