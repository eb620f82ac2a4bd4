// RUN: opt-tool %s -p relay-fold-constant | filecheck %s

// CHECK:      %c = relay.constant dense<[3.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: %y = relay.multiply %x, %c : tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = relay.constant dense<2.0> : tensor<f32>
  %c = relay.add %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %y = relay.multiply %x, %c : tensor<2xf32>
  return %y : tensor<2xf32>
}
