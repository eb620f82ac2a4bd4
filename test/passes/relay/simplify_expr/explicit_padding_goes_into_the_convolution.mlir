// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT: %y = relay.nn.conv2d %x, %w {padding = [2, 1, 3, 1]}
func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x11x8xf32> {
  %p = relay.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 2, 0, 0]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x11x8xf32>
  %y = relay.nn.conv2d %p, %w {padding = [1, 1]} : (tensor<1x3x11x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x11x8xf32>
  return %y : tensor<1x4x11x8xf32>
}
