// RUN: opt-tool %s -p relay-fold-explicit-padding | filecheck %s

// CHECK:      %b = relay.nn.pad %x
// CHECK-NEXT: %y = relay.nn.conv2d %b, %w :
func.func @main(%x: tensor<1x3x6x6xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32> {
  %b = relay.nn.pad %x {pad_value = 1.0, pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x6x6xf32>) -> tensor<1x3x8x8xf32>
  %y = relay.nn.conv2d %b, %w : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}
