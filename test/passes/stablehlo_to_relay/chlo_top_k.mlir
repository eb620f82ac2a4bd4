// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %v, %y = relay.topk %x {k = 3} : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
// CHECK-NEXT: func.return %y : tensor<2x3xi32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x8xf32>) -> tensor<2x3xi32> {
  %v, %y = chlo.top_k(%x, k = 3) : tensor<2x8xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %y : tensor<2x3xi32>
}
