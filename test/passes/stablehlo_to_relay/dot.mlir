// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.reshape %b {allowzero = true, newshape = [3, 1]} : (tensor<3xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %1 = relay.nn.matmul %a, %0 {out_dtype = "float32"} : (tensor<2x3xf32>, tensor<3x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %y = relay.reshape %1 {allowzero = true, newshape = [2]} : (tensor<2x1xf32>) -> tensor<2xf32>
// CHECK-NEXT: func.return %y : tensor<2xf32>
// CHECK-NOT:  stablehlo
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  %y = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
