// RUN: opt-tool %s --split-input-file --verify-diagnostics

te.func @now(%X: tensor<8x4xf32>, %F: tensor<1x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{the state %s is read at time %t; only times before %t are computed, such as %t - 1}}
  %r = te.scan "s" [8] (%t) (%s = %F) : (tensor<1x4xf32>) -> tensor<8x4xf32> {
    %u = te.compute "u" [4] (%i) : tensor<4xf32> {
      %a = te.read %s[%t, %i] : tensor<8x4xf32>
      te.yield %a : f32
    }
    te.yield %u : tensor<4xf32>
  }
  te.return %r : tensor<8x4xf32>
}
// -----
te.func @later(%X: tensor<8x4xf32>, %F: tensor<1x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{the state %s is read at time %t + %i * -1 + 2}}
  %r = te.scan "s" [8] (%t) (%s = %F) : (tensor<1x4xf32>) -> tensor<8x4xf32> {
    %u = te.compute "u" [4] (%i) : tensor<4xf32> {
      %a = te.read %s[%t - %i + 2, 0] : tensor<8x4xf32>
      te.yield %a : f32
    }
    te.yield %u : tensor<4xf32>
  }
  te.return %r : tensor<8x4xf32>
}
