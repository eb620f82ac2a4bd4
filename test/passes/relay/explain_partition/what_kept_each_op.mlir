// RUN: opt-tool %s -p 'relay-merge-composite{patterns=bnns},relay-annotate-target{targets=bnns},relay-merge-compiler-regions,relay-partition-graph,relay-explain-partition{targets=bnns}' --verify-diagnostics
// The best partial match speaks: of the patterns that contain an op the one that got furthest past it.

func.func @main(%x: tensor<2x4xf32>, %w: tensor<8x4xf32>, %s: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %b = relay.constant dense<1.0> : tensor<8xf32>
  %d = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  // expected-remark@+1 {{nn.bias_add stays: bnns.dense_bias: operand 1 of nn.dense: expected a constant, found the parameter %w}}
  %e = relay.nn.bias_add %d, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // expected-remark@+1 {{nn.relu stays: bnns.conv2d_bias_relu: operand 0 of nn.bias_add: expected nn.conv2d, found nn.dense (%d)}}
  %r = relay.nn.relu %e : tensor<2x8xf32>
  // expected-remark@+1 {{erf stays: no pattern of bnns has it}}
  %p = relay.erf %r : tensor<2x8xf32>
  return %p : tensor<2x8xf32>
}
