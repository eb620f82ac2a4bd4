// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.transpose %b {axes = [2, 1, 0]} : (tensor<5x4x3xf32>) -> tensor<3x4x5xf32>
// CHECK-NEXT: %1 = relay.reshape %a {allowzero = true, newshape = [2, 12]} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: %2 = relay.reshape %0 {allowzero = true, newshape = [12, 5]} : (tensor<3x4x5xf32>) -> tensor<12x5xf32>
// CHECK-NEXT: %y = relay.nn.matmul %1, %2 {out_dtype = "float32"} : (tensor<2x12xf32>, tensor<12x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: func.return %y : tensor<2x5xf32>
// CHECK-NOT:  stablehlo
func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<5x4x3xf32>) -> tensor<2x5xf32> {
  %y = stablehlo.dot_general %a, %b, contracting_dims = [1, 2] x [2, 1] : (tensor<2x3x4xf32>, tensor<5x4x3xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
