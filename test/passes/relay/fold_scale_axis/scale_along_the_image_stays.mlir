// RUN: opt-tool %s -p relay-fold-scale-axis | filecheck %s

// CHECK-LABEL: @along_rows
// CHECK: relay.nn.conv2d %x, %w
// CHECK: relay.multiply
func.func @along_rows(%x: tensor<1x3x6x6xf32>) -> tensor<1x8x4x4xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %s = relay.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %y = relay.multiply %c, %s : (tensor<1x8x4x4xf32>, tensor<4x1xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// The unscaled value is used too.
// CHECK-LABEL: @shared
// CHECK: relay.nn.conv2d %x, %w
// CHECK: relay.multiply
func.func @shared(%x: tensor<1x3x6x6xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x3x3x3xf32>
  %s = relay.constant dense<2.0> : tensor<f32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x3x6x6xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %y = relay.multiply %c, %s : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  return %c, %y : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
}
