// RUN: opt-tool %s -p relay-fold-scale-axis | filecheck %s
// Through a relu into a convolution and a dense layer.

// CHECK:      [[R:%.*]] = relay.nn.relu %x : tensor<1x3x6x6xf32>
// CHECK-NEXT: [[W:%.*]] = relay.constant #relay.param<"w/multiply", "{{[0-9a-f]+}}"> : tensor<8x3x3x3xf32>
// CHECK-NEXT: %c = relay.nn.conv2d [[R]], [[W]]
// CHECK-NEXT: [[V:%.*]] = relay.constant #relay.param<"v/multiply", "{{[0-9a-f]+}}"> : tensor<4x5xf32>
// CHECK-NEXT: %d = relay.nn.dense %z, [[V]]
func.func @main(%x: tensor<1x3x6x6xf32>, %z: tensor<2x5xf32>) -> (tensor<1x8x4x4xf32>, tensor<2x4xf32>) {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %s = relay.constant dense<2.0> : tensor<3x1x1xf32>
  %y = relay.multiply %x, %s : (tensor<1x3x6x6xf32>, tensor<3x1x1xf32>) -> tensor<1x3x6x6xf32>
  %r = relay.nn.relu %y : tensor<1x3x6x6xf32>
  %c = relay.nn.conv2d %r, %w : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<4x5xf32>
  %t = relay.constant dense<[1.0, 2.0, 3.0, 4.0, -5.0]> : tensor<5xf32>
  %u = relay.multiply %z, %t : (tensor<2x5xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  %d = relay.nn.dense %u, %v : (tensor<2x5xf32>, tensor<4x5xf32>) -> tensor<2x4xf32>
  return %c, %d : tensor<1x8x4x4xf32>, tensor<2x4xf32>
}
