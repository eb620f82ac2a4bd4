// RUN: opt-tool %s -p 'relay-annotate-target{targets=ethos-n},relay-partition-graph,relay-explain-partition{targets=ethos-n}' --verify-diagnostics
// is_constant() asks for constants, and the weight is a parameter.

func.func @main(%x: tensor<1x3x8x8xui8>, %weight: tensor<4x3x1x1xi8>) -> tensor<1x4x8x8xi32> {
  %s0 = relay.constant dense<0.02> : tensor<f32>
  %z0 = relay.constant dense<114> : tensor<i32>
  // expected-remark@+1 {{qnn.conv2d stays: ethos-n.qnn_conv2d: expected qnn.requantize behind it, found func.return}}
  %2 = relay.qnn.conv2d %x, %weight, %z0, %z0, %s0, %s0 {channels = 4, kernel_size = [1, 1], padding = [0, 0, 0, 0], out_dtype = "int32"} : (tensor<1x3x8x8xui8>, tensor<4x3x1x1xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x8x8xi32>
  return %2 : tensor<1x4x8x8xi32>
}
