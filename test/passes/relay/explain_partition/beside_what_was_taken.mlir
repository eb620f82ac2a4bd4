// RUN: opt-tool %s -p 'relay-merge-composite{patterns=bnns},relay-annotate-target{targets=bnns},relay-merge-compiler-regions,relay-partition-graph,relay-explain-partition{targets=bnns}' --verify-diagnostics
// Reasons speak of the graph as it was: of the ops that were taken, not of the composite that they have become.

func.func @main(%x: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %w = relay.constant dense<1.0> : tensor<8x4xf32>
  %b = relay.constant dense<1.0> : tensor<8xf32>
  %d = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %e = relay.nn.bias_add %d, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // expected-remark@+1 {{nn.relu stays: bnns.conv2d_bias_relu: operand 0 of nn.bias_add: expected nn.conv2d, found nn.dense (%d)}}
  %r = relay.nn.relu %e : tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}
