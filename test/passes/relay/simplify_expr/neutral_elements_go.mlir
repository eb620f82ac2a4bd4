// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s

// CHECK:      func.func @main(%x: tensor<2x3xf32>)
// CHECK-NEXT: func.return %x
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = relay.constant dense<1.0> : tensor<3xf32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %a = relay.multiply %one, %x : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = relay.add %a, %zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %c = relay.divide %b, %one : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}
