// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.isfinite %x : (tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: func.return %y : tensor<4xi1>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xi1> {
  %y = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  return %y : tensor<4xi1>
}
