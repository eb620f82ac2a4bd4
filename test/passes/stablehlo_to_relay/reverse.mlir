// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.reverse %x {axis = 0} : tensor<2x3xf32>
// CHECK-NEXT: %y = relay.reverse %0 {axis = 1} : tensor<2x3xf32>
// CHECK-NEXT: func.return %y : tensor<2x3xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
