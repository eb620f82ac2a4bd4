// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.strided_slice %x {begin = [0], end = [3], strides = [1]} : (tensor<8xf32>) -> tensor<3xf32>
// CHECK-NEXT: %1 = relay.strided_slice %x {begin = [5], end = [8], strides = [1]} : (tensor<8xf32>) -> tensor<3xf32>
// CHECK-NEXT: %y = relay.concatenate %0, %u, %1 : (tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<8xf32>
// CHECK-NEXT: func.return %y : tensor<8xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<8xf32>, %u: tensor<2xf32>) -> tensor<8xf32> {
  %i = stablehlo.constant dense<3> : tensor<i32>
  %y = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
