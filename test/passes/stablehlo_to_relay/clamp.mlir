// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.maximum %x, %low : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %y = relay.minimum %0, %high : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: func.return %y : tensor<4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%low: tensor<f32>, %x: tensor<4xf32>, %high: tensor<f32>) -> tensor<4xf32> {
  %y = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
