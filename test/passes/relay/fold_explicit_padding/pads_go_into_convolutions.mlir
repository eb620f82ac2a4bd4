// RUN: opt-tool %s -p relay-fold-explicit-padding | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT:   %y = relay.nn.conv2d %x, %w {padding = [1, 2, 1, 2]}
func.func @main(%x: tensor<1x3x6x6xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<1x8x6x8xf32> {
  %a = relay.nn.pad %x {pad_width = [0, 0, 0, 0, 0, 0, 1, 1]} : (tensor<1x3x6x6xf32>) -> tensor<1x3x6x8xf32>
  %b = relay.nn.pad %a {pad_width = [0, 0, 0, 0, 1, 1, 0, 0]} : (tensor<1x3x6x8xf32>) -> tensor<1x3x8x8xf32>
  %y = relay.nn.conv2d %b, %w {padding = [0, 1]} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x8xf32>
  return %y : tensor<1x8x6x8xf32>
}
