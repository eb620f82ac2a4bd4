// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %z = relay.subtract %x, %y : tensor<4xf32>
// CHECK-NEXT: func.return %z : tensor<4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.subtract %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
