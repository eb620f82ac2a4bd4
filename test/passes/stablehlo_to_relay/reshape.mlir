// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.reshape %x {allowzero = true, newshape = [6]} : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK-NEXT: func.return %y : tensor<6xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %y = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
