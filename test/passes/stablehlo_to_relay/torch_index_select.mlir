// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.take %x, %i {axis = 0} : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
// CHECK-NEXT: func.return %y : tensor<3x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<8x4xf32>, %i: tensor<3xi32>) -> tensor<3x4xf32> {
  %y = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
