// RUN: opt-tool %s --split-input-file --verify-diagnostics

te.func @length(%F: tensor<1x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{the first dimension of tensor<8x4xf32> is not the scan's time, 9}}
  %r = te.scan "s" [9] (%t) (%s = %F) : (tensor<1x4xf32>) -> tensor<8x4xf32> {
    %u = te.compute "u" [4] (%i) : tensor<4xf32> {
      %a = te.read %s[%t - 1, %i] : tensor<8x4xf32>
      te.yield %a : f32
    }
    te.yield %u : tensor<4xf32>
  }
  te.return %r : tensor<8x4xf32>
}
// -----
te.func @init(%F: tensor<1x5xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{tensor<1x5xf32> cannot begin tensor<8x4xf32>}}
  %r = te.scan "s" [8] (%t) (%s = %F) : (tensor<1x5xf32>) -> tensor<8x4xf32> {
    %u = te.compute "u" [4] (%i) : tensor<4xf32> {
      %a = te.read %s[%t - 1, %i] : tensor<8x4xf32>
      te.yield %a : f32
    }
    te.yield %u : tensor<4xf32>
  }
  te.return %r : tensor<8x4xf32>
}
// -----
te.func @long_init(%F: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{3 initial times of a scan of 2}}
  %r = te.scan "s" [2] (%t) (%s = %F) : (tensor<3x4xf32>) -> tensor<2x4xf32> {
    %u = te.compute "u" [4] (%i) : tensor<4xf32> {
      %a = te.read %s[%t - 1, %i] : tensor<2x4xf32>
      te.yield %a : f32
    }
    te.yield %u : tensor<4xf32>
  }
  te.return %r : tensor<2x4xf32>
}
// -----
te.func @slice(%F: tensor<1x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{te.yield gives tensor<3xf32> as a slice of tensor<8x4xf32>}}
  %r = te.scan "s" [8] (%t) (%s = %F) : (tensor<1x4xf32>) -> tensor<8x4xf32> {
    %u = te.compute "u" [3] (%i) : tensor<3xf32> {
      %a = te.read %s[%t - 1, %i] : tensor<8x4xf32>
      te.yield %a : f32
    }
    te.yield %u : tensor<3xf32>
  }
  te.return %r : tensor<8x4xf32>
}
// -----
te.func @outside(%F: tensor<1x4xf32>, %G: tensor<4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{te.yield gives what a te.compute of the body computes}}
  %r = te.scan "s" [8] (%t) (%s = %F) : (tensor<1x4xf32>) -> tensor<8x4xf32> {
    te.yield %G : tensor<4xf32>
  }
  te.return %r : tensor<8x4xf32>
}
