// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// Over the digits of time no index says that one iteration needs the one before; the loop needs it all the same.

te.func @f(%X: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %first = te.compute "first" [1, 8] (%t, %i) : tensor<1x8xf32> {
    %x = te.read %X[%t, %i] : tensor<5x8xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [5] (%t) (%state = %first) : (tensor<1x8xf32>) -> tensor<5x8xf32> {
    %u = te.compute "u" [8] (%i) : tensor<8xf32> {
      %a = te.read %state[%t - 1, %i] : tensor<5x8xf32>
      %x = te.read %X[%t, %i] : tensor<5x8xf32>
      %c = arith.addf %a, %x : f32
      te.yield %c : f32
    }
    te.yield %u : tensor<8xf32>
  }
  %y = te.compute "y" [5, 8] (%t, %i) : tensor<5x8xf32> {
    %a = te.read %s[%t, %i] : tensor<5x8xf32>
    te.yield %a : f32
  }
  te.return %y : tensor<5x8xf32>
}
te.schedule @f {
  te.transform_layout "first" #te.map<(d0, d1) -> (d0 floordiv 3, d1, d0 mod 3)>
  %t, %i = te.loops "u" [2]
  // expected-error@+1 {{of an earlier iteration, so they cannot run at once}}
  te.parallel %t
}
