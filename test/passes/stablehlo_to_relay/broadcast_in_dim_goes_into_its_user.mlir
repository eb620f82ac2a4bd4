// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.add %x, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: func.return %y : tensor<4x3xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  %r = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %y = stablehlo.add %x, %r : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
