// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.bitwise_not %x : tensor<4xi32>
// CHECK-NEXT: func.return %y : tensor<4xi32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %y = stablehlo.not %x : tensor<4xi32>
  return %y : tensor<4xi32>
}
