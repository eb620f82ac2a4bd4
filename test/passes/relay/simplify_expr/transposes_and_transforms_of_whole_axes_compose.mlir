// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT:   %b = relay.transpose %x {axes = [0, 3, 1, 2]}
// CHECK-NEXT:   func.return %x, %b
func.func @main(%x: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x4x2x3xf32>) {
  %0 = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x3x4xf32>) -> tensor<1x3x4x2xf32>
  %a = relay.transpose %0 {axes = [0, 3, 1, 2]} : (tensor<1x3x4x2xf32>) -> tensor<1x2x3x4xf32>
  %1 = relay.transpose %x {axes = [0, 1, 3, 2]} : (tensor<1x2x3x4xf32>) -> tensor<1x2x4x3xf32>
  %b = relay.layout_transform %1 {src_layout = "NCHW", dst_layout = "NHCW"} : (tensor<1x2x4x3xf32>) -> tensor<1x4x2x3xf32>
  return %a, %b : tensor<1x2x3x4xf32>, tensor<1x4x2x3xf32>
}
