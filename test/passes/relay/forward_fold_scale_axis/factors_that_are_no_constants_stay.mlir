// RUN: opt-tool %s -p relay-forward-fold-scale-axis | filecheck %s
// Nor do those of a grouped convolution, whose weights have other channels in each group.

// CHECK:      relay.multiply %x, %s
// CHECK-NEXT: relay.nn.dense
// CHECK:      relay.multiply %i
// CHECK:      relay.nn.conv2d
func.func @main(%x: tensor<2x8xf32>, %s: tensor<8xf32>, %i: tensor<1x4x3x3xf32>) -> (tensor<2x4xf32>, tensor<1x4x3x3xf32>) {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<4x8xf32>
  %y = relay.multiply %x, %s : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %d = relay.nn.dense %y, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<4x2x1x1xf32>
  %t = relay.constant dense<3.0> : tensor<4x1x1xf32>
  %j = relay.multiply %i, %t : (tensor<1x4x3x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %c = relay.nn.conv2d %j, %v {groups = 2} : (tensor<1x4x3x3xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x3x3xf32>
  return %d, %c : tensor<2x4xf32>, tensor<1x4x3x3xf32>
}
