// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %y = relay.constant dense<5> : tensor<i32>
// CHECK-NEXT: func.return %y : tensor<i32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<4x5xf32>) -> tensor<i32> {
  %y = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4x5xf32>) -> tensor<i32>
  return %y : tensor<i32>
}
