// RUN: opt-tool %s -p relay-fold-transpose | filecheck %s

// CHECK:      %t = relay.transpose %a {axes = [1, 0, 2]}
// CHECK-NEXT: %y = relay.nn.batch_matmul %t, %b :
func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<3x5x4xf32>) -> tensor<3x2x5xf32> {
  %t = relay.transpose %a {axes = [1, 0, 2]} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %y = relay.nn.batch_matmul %t, %b : (tensor<3x2x4xf32>, tensor<3x5x4xf32>) -> tensor<3x2x5xf32>
  return %y : tensor<3x2x5xf32>
}
