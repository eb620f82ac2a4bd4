// RUN: opt-tool %s -p 'relay-dense-to-sparse{block-size=2,2 sparsity-threshold=0.6}' | filecheck %s
// RUN: not opt-tool %s -p 'relay-dense-to-sparse{block-size=2}' 2>&1 | filecheck %s --check-prefix SIZE
// RUN: not opt-tool %s -p 'relay-dense-to-sparse{sparsity-threshold=2.0}' 2>&1 | filecheck %s --check-prefix SHARE

// CHECK-COUNT-3: relay.nn.dense
// SIZE: block-size is [2], it must be the rows and columns of a block
// SHARE: sparsity-threshold is 2.0, it must be between 0 and 1
func.func @main(%x: tensor<3x4xf32>, %v: tensor<2x4xf32>) -> (tensor<3x2xf32>, tensor<3x1xf32>, tensor<3x2xf32>) {
  %w = relay.constant dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]]> : tensor<2x4xf32>
  %y = relay.nn.dense %x, %w : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  %u = relay.constant dense<[[1.0, 0.0, 0.0, 0.0]]> : tensor<1x4xf32>
  %z = relay.nn.dense %x, %u : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x1xf32>
  %a = relay.nn.dense %x, %v : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  return %y, %z, %a : tensor<3x2xf32>, tensor<3x1xf32>, tensor<3x2xf32>
}
