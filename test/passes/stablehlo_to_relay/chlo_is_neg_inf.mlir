// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.constant dense<"0x000080FF"> : tensor<f32>
// CHECK-NEXT: %y = relay.equal %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
// CHECK-NEXT: func.return %y : tensor<4xi1>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xi1> {
  %y = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  return %y : tensor<4xi1>
}
