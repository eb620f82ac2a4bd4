// RUN: opt-tool %s -p 'relay-merge-composite{patterns=bnns}' | filecheck %s
// The first is a gelu behind a dense layer; the second has another constant, so only its dense layer with bias is taken.

// CHECK:      Composite = "bnns.dense_bias_gelu"
// CHECK:      Composite = "bnns.dense_bias"
// CHECK-NOT:  Composite
func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %w = relay.constant #relay.param<"w", "9f86d081884c7d65"> : tensor<8x4xf32>
  %b = relay.constant dense<1.0> : tensor<8xf32>
  %three = relay.constant dense<3.0> : tensor<f32>
  %cubic = relay.constant dense<0.044715> : tensor<f32>
  %root = relay.constant dense<0.7978845608> : tensor<f32>
  %one = relay.constant dense<1.0> : tensor<f32>
  %half = relay.constant dense<0.5> : tensor<f32>
  %d = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %y = relay.nn.bias_add %d, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %p = relay.power %y, %three : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %q = relay.multiply %p, %cubic : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %r = relay.add %q, %y : tensor<2x8xf32>
  %s = relay.multiply %r, %root : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %t = relay.tanh %s : tensor<2x8xf32>
  %u = relay.add %t, %one : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %v = relay.multiply %u, %half : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %g = relay.multiply %v, %y : tensor<2x8xf32>
  %d2 = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %y2 = relay.nn.bias_add %d2, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %p2 = relay.power %y2, %three : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %q2 = relay.multiply %p2, %half : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %r2 = relay.add %q2, %y2 : tensor<2x8xf32>
  %s2 = relay.multiply %r2, %root : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %t2 = relay.tanh %s2 : tensor<2x8xf32>
  %u2 = relay.add %t2, %one : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %v2 = relay.multiply %u2, %half : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %g2 = relay.multiply %v2, %y2 : tensor<2x8xf32>
  return %g, %g2 : tensor<2x8xf32>, tensor<2x8xf32>
}
