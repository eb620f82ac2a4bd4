// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.multiply %a, %b : tensor<3xf32>
// CHECK-NEXT: %y = relay.sum %0 {axis = [0]} : (tensor<3xf32>) -> tensor<f32>
// CHECK-NEXT: func.return %y : tensor<f32>
// CHECK-NOT:  stablehlo
func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<f32> {
  %y = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return %y : tensor<f32>
}
