// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.reshape %x {allowzero = true, newshape = [1, 3]} : (tensor<3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT: %y = relay.broadcast_to %0 {shape = [2, 3]} : (tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %y : tensor<2x3xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<3xf32>, %s: tensor<2xi64>) -> tensor<2x3xf32> {
  %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
