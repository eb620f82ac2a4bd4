// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.max %x {axis = [1]} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: func.return %y : tensor<2xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %y = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
