// RUN: opt-tool %s -p relay-flatten-atrous-conv | filecheck %s
// The crop takes a row off the padding at the end.

// CHECK:      func.func @main
// CHECK-NEXT:   %y = relay.nn.conv2d %x, %w {data_layout = "NHWC", dilation = [2, 3], kernel_layout = "HWIO", padding = [2, 1, 1, 2]}
// CHECK-NEXT:   func.return %y
func.func @main(%x: tensor<1x6x6x3xf32>, %w: tensor<3x3x3x8xf32>) -> tensor<1x5x3x8xf32> {
  %a = relay.nn.space_to_batch_nd %x {block_shape = [2, 3], paddings = [2, 2, 1, 2]}
    : (tensor<1x6x6x3xf32>) -> tensor<6x5x3x3xf32>
  %b = relay.nn.conv2d %a, %w {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<6x5x3x3xf32>, tensor<3x3x3x8xf32>) -> tensor<6x3x1x8xf32>
  %y = relay.nn.batch_to_space_nd %b {block_shape = [2, 3], crops = [0, 1, 0, 0]}
    : (tensor<6x3x1x8xf32>) -> tensor<1x5x3x8xf32>
  return %y : tensor<1x5x3x8xf32>
}
