// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %z = relay.equal %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: func.return %z : tensor<4xi1>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %z = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %z : tensor<4xi1>
}
