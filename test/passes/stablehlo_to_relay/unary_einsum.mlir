// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.einsum %a {equation = "ij->j"} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: func.return %y : tensor<3xf32>
// CHECK-NOT:  stablehlo
func.func @main(%a: tensor<2x3xf32>) -> tensor<3xf32> {
  %y = stablehlo.unary_einsum %a, config = "ij->j" : (tensor<2x3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
