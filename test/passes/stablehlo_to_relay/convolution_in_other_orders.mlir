// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.transpose %x {axes = [3, 0, 1, 2]} : (tensor<3x8x9x1xf32>) -> tensor<1x3x8x9xf32>
// CHECK-NEXT: %1 = relay.transpose %w {axes = [3, 0, 1, 2]} : (tensor<3x3x3x4xf32>) -> tensor<4x3x3x3xf32>
// CHECK-NEXT: %2 = relay.nn.conv2d %0, %1 {out_dtype = "float32", padding = [1, 1, 1, 1]} : (tensor<1x3x8x9xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x9xf32>
// CHECK-NEXT: %y = relay.transpose %2 {axes = [2, 3, 0, 1]} : (tensor<1x4x8x9xf32>) -> tensor<8x9x1x4xf32>
// CHECK-NEXT: func.return %y : tensor<8x9x1x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<3x8x9x1xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<8x9x1x4xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x8x9x1xf32>, tensor<3x3x3x4xf32>) -> tensor<8x9x1x4xf32>
  return %y : tensor<8x9x1x4xf32>
}
