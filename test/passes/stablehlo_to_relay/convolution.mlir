// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.nn.conv2d %x, %w {data_layout = "NHWC", dilation = [1, 2], kernel_layout = "HWIO", out_dtype = "float32", padding = [1, 0, 1, 2], strides = [2, 1]} : (tensor<1x8x9x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x7x4xf32>
// CHECK-NEXT: func.return %y : tensor<1x4x7x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<1x8x9x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<1x4x7x4xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 2]], rhs_dilate = [1, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x9x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x7x4xf32>
  return %y : tensor<1x4x7x4xf32>
}
