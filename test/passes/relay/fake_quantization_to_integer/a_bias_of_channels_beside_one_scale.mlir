// RUN: opt-tool %s -p relay-fake-quantization-to-integer | filecheck %s
// One scale for all of the data goes with a bias along any axis: that of the dequantize, the last one, says nothing.

// CHECK-NOT:  dequantize
// CHECK:      [[B:%[0-9]+]] = relay.constant dense<[1, 2]> : tensor<2xi8>
// CHECK-NEXT: relay.nn.bias_add %x, [[B]]
func.func @main(%x: tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %b = relay.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i32>) -> tensor<1x2x3x3xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %2 = relay.qnn.quantize %1, %s, %z : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x3x3xi8>
  return %2 : tensor<1x2x3x3xi8>
}
