// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %y = relay.add %x, %0 : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
// CHECK-NEXT: func.return %y : tensor<64x64xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<64x64xf32>
  %y = stablehlo.add %x, %c : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
