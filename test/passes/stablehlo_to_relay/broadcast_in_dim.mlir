// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.reshape %x {allowzero = true, newshape = [3, 1]} : (tensor<3xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %y = relay.broadcast_to %0 {shape = [3, 4]} : (tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: func.return %y : tensor<3x4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<3xf32>) -> tensor<3x4xf32> {
  %y = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
