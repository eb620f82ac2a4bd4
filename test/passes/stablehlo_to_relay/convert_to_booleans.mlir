// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %y = relay.not_equal %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
// CHECK-NEXT: func.return %y : tensor<4xi1>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xi1> {
  %y = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi1>
  return %y : tensor<4xi1>
}
