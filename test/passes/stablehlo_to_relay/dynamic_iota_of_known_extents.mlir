// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
// CHECK-NEXT: func.return %y : tensor<4xi32>
// CHECK-NOT:  stablehlo
func.func @main(%s: tensor<1xi64>) -> tensor<4xi32> {
  %y = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}
