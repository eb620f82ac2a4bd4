// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.reshape %x {allowzero = true, newshape = [2, 1, 4, 4, 3]} : (tensor<2x4x4x3xf32>) -> tensor<2x1x4x4x3xf32>
// CHECK-NEXT: %1 = relay.transpose %0 {axes = [1, 2, 3, 0, 4]} : (tensor<2x1x4x4x3xf32>) -> tensor<1x4x4x2x3xf32>
// CHECK-NEXT: %2 = relay.reshape %1 {allowzero = true, newshape = [1, 4, 4, 6]} : (tensor<1x4x4x2x3xf32>) -> tensor<1x4x4x6xf32>
// CHECK-NEXT: %y = relay.nn.conv2d %2, %w {data_layout = "NHWC", groups = 2, kernel_layout = "HWIO", out_dtype = "float32", padding = [0, 0, 0, 0]} : (tensor<1x4x4x6xf32>, tensor<3x3x3x4xf32>) -> tensor<1x2x2x4xf32>
// CHECK-NEXT: func.return %y : tensor<1x2x2x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x4x4x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<1x2x2x4xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x2x2x4xf32>
  return %y : tensor<1x2x2x4xf32>
}
