// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %z = relay.logical_or %x, %y : tensor<4xi1>
// CHECK-NEXT: func.return %z : tensor<4xi1>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  %z = stablehlo.add %x, %y : tensor<4xi1>
  return %z : tensor<4xi1>
}
