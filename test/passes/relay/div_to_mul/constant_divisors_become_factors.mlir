// RUN: opt-tool %s -p relay-div-to-mul | filecheck %s

// CHECK:      [[C:%.*]] = relay.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT: %y = relay.multiply %x, [[C]]
// CHECK:      [[D:%.*]] = relay.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %z = relay.multiply %y, [[D]]
func.func @main(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c = relay.constant dense<4.0> : tensor<f32>
  %d = relay.constant dense<2.0> : tensor<8xf32>
  %y = relay.divide %x, %c : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %z = relay.divide %y, %d : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return %z : tensor<2x8xf32>
}
