// RUN: opt-tool %s -p relay-simplify-inference | filecheck %s

// CHECK: %y = relay.nn.layer_norm %x, %g, %b
func.func @main(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = relay.nn.layer_norm %x, %g, %b : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
