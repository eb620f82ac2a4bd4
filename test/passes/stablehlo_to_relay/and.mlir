// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %z = relay.bitwise_and %x, %y : tensor<4xi32>
// CHECK-NEXT: func.return %z : tensor<4xi32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %z = stablehlo.and %x, %y : tensor<4xi32>
  return %z : tensor<4xi32>
}
