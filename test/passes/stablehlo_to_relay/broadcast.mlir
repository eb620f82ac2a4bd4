// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.broadcast_to %x {shape = [2, 3]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %y : tensor<2x3xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = stablehlo.broadcast %x, sizes = [2] : (tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
