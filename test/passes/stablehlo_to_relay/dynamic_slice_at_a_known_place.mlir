// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.strided_slice %x {begin = [6], end = [8], strides = [1]} : (tensor<8xf32>) -> tensor<2xf32>
// CHECK-NEXT: func.return %y : tensor<2xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<8xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<7> : tensor<i32>
  %y = stablehlo.dynamic_slice %x, %c, sizes = [2] : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
