// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.nn.dilate %x {strides = [1, 2]} : (tensor<2x3xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %y = relay.nn.pad %0 {pad_width = [1, 1, 0, 1]} : (tensor<2x5xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: func.return %y : tensor<4x6xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x3xf32>) -> tensor<4x6xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.pad %x, %c, low = [1, 0], high = [1, 1], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
