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
  %i, %j = te.loops "B" [2]
  // expected-error@+1 {{blockize of 'B.j': there is a stage 'C' already}}
  te.blockize %j "C"
}
