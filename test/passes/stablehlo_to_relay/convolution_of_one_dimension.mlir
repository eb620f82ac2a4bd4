// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.nn.conv1d %x, %w {out_dtype = "float32", padding = [1, 0], strides = [2]} : (tensor<2x3x7xf32>, tensor<4x3x2xf32>) -> tensor<2x4x4xf32>
// CHECK-NEXT: func.return %y : tensor<2x4x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x3x7xf32>, %w: tensor<4x3x2xf32>) -> tensor<2x4x4xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x7xf32>, tensor<4x3x2xf32>) -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}
