// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.constant dense<[0, 0, 1, 2]> : tensor<4xi64>
// CHECK-NEXT: %1 = relay.take %x, %0 {axis = 0} : (tensor<3xf32>, tensor<4xi64>) -> tensor<4xf32>
// CHECK-NEXT: %2 = relay.constant dense<[false, true, true, true]> : tensor<4xi1>
// CHECK-NEXT: %y = relay.where %2, %1, %c : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: func.return %y : tensor<4xf32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<3xf32>, %c: tensor<f32>) -> tensor<4xf32> {
  %y = stablehlo.pad %x, %c, low = [1], high = [0], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
