// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.erf %x : tensor<4xf32>
// CHECK-NEXT: %1 = relay.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %y = relay.subtract %1, %0 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: func.return %y : tensor<4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
