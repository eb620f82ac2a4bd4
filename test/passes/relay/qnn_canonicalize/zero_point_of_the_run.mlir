// RUN: opt-tool %s -p relay-qnn-canonicalize,relay-fold-constant | filecheck %s
// Where the weight is known, its sums are: bytes are multiplied, and the zero point is taken off afterwards.

// CHECK-LABEL: func.func @main
// CHECK:      %[[P:.*]] = relay.nn.dense %x, %{{.*}} : (tensor<2x4xui8>, tensor<3x4xi8>) -> tensor<2x3xi32>
// CHECK:      relay.constant dense<8> : tensor<3xi32>
// CHECK:      relay.subtract %[[P]]
func.func @main(%x: tensor<2x4xui8>, %a: tensor<i32>) -> tensor<2x3xi32> {
  %w = relay.constant dense<2> : tensor<4x3xi8>
  %t = relay.transpose %w {axes = [1, 0]} : (tensor<4x3xi8>) -> tensor<3x4xi8>
  %z = relay.constant dense<0> : tensor<i32>
  %s = relay.constant dense<1.0> : tensor<f32>
  %0 = relay.qnn.dense %x, %t, %a, %z, %s, %s : (tensor<2x4xui8>, tensor<3x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}
