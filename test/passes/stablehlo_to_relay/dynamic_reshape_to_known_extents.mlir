// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.reshape %x {allowzero = true, newshape = [2, 3]} : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %y : tensor<2x3xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<6xf32>, %s: tensor<2xi64>) -> tensor<2x3xf32> {
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
