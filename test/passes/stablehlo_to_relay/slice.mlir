// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.strided_slice %x {begin = [1, 0], end = [7, 2], strides = [2, 1]} : (tensor<8x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: func.return %y : tensor<3x2xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<8x3xf32>) -> tensor<3x2xf32> {
  %y = stablehlo.slice %x [1:7:2, 0:2] : (tensor<8x3xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
