// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s

// CHECK: %y = relay.multiply %x, %one
func.func @main(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %one = relay.constant dense<1.0> : tensor<2x3xf32>
  %y = relay.multiply %x, %one : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
