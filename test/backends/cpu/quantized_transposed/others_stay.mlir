// RUN: opt-tool %s -p cpu-quantized-transposed | filecheck %s
// Two strides, groups, a weight or its zero point that the run tells.

// CHECK-COUNT-4: relay.qnn.conv2d_transpose
func.func @main(%x: tensor<1x2x4x4xui8>, %v: tensor<2x3x2x2xi8>, %n: tensor<i32>) -> (tensor<1x3x5x8xi32>, tensor<1x6x8x8xi32>, tensor<1x3x8x8xi32>, tensor<1x3x8x8xi32>) {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %w = relay.constant dense<3> : tensor<2x3x2x2xi8>
  %0 = relay.qnn.conv2d_transpose %x, %w, %z, %z, %s, %s {strides = [1, 2]} : (tensor<1x2x4x4xui8>, tensor<2x3x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x3x5x8xi32>
  %1 = relay.qnn.conv2d_transpose %x, %w, %z, %z, %s, %s {strides = [2, 2], groups = 2} : (tensor<1x2x4x4xui8>, tensor<2x3x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x6x8x8xi32>
  %2 = relay.qnn.conv2d_transpose %x, %v, %z, %z, %s, %s {strides = [2, 2]} : (tensor<1x2x4x4xui8>, tensor<2x3x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x3x8x8xi32>
  %3 = relay.qnn.conv2d_transpose %x, %w, %z, %n, %s, %s {strides = [2, 2]} : (tensor<1x2x4x4xui8>, tensor<2x3x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x3x8x8xi32>
  return %0, %1, %2, %3 : tensor<1x3x5x8xi32>, tensor<1x6x8x8xi32>, tensor<1x3x8x8xi32>, tensor<1x3x8x8xi32>
}
