// RUN: opt-tool %s -p relay-fold-scale-axis | filecheck %s

// CHECK:      relay.nn.conv2d %x, %w
// CHECK-NEXT: %r = relay.nn.relu
// CHECK-NEXT: %y = relay.multiply %r, %s
func.func @main(%x: tensor<1x3x6x6xf32>) -> tensor<1x8x4x4xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %s = relay.constant dense<-2.0> : tensor<f32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %r = relay.nn.relu %c : tensor<1x8x4x4xf32>
  %y = relay.multiply %r, %s : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}
