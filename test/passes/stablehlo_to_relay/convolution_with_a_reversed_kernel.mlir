// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.reverse %w {axis = 0} : tensor<3x3x1x6xf32>
// CHECK-NEXT: %y = relay.nn.conv2d %x, %0 {data_layout = "NHWC", groups = 3, kernel_layout = "HWIO", out_dtype = "float32", padding = [0, 0, 0, 0]} : (tensor<1x4x4x3xf32>, tensor<3x3x1x6xf32>) -> tensor<1x2x2x6xf32>
// CHECK-NEXT: func.return %y : tensor<1x2x2x6xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<1x4x4x3xf32>, %w: tensor<3x3x1x6xf32>) -> tensor<1x2x2x6xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x4x4x3xf32>, tensor<3x3x1x6xf32>) -> tensor<1x2x2x6xf32>
  return %y : tensor<1x2x2x6xf32>
}
