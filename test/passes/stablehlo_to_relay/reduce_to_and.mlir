// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.all %x {axis = [1]} : (tensor<2x3xi1>) -> tensor<2xi1>
// CHECK-NEXT: func.return %y : tensor<2xi1>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x3xi1>) -> tensor<2xi1> {
  %c = stablehlo.constant dense<true> : tensor<i1>
  %y = stablehlo.reduce(%x init: %c) applies stablehlo.and across dimensions = [1] : (tensor<2x3xi1>, tensor<i1>) -> tensor<2xi1>
  return %y : tensor<2xi1>
}
