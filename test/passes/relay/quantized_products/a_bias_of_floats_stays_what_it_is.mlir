// RUN: opt-tool %s -p relay-quantized-products | filecheck %s
// Nothing is quantized behind it, so that the sum is one of floats: a bias is not moved to a step of the products.

func.func @main(%x: tensor<2x4xui8>) -> tensor<2x3xf32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %zero = relay.constant dense<0> : tensor<i32>
  %q = relay.constant dense<3> : tensor<3x4xi8>
  %b = relay.constant dense<[0.7, 1.0, -2.0]> : tensor<3xf32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xui8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %1 = relay.qnn.dequantize %q, %s, %zero : (tensor<3x4xi8>, tensor<f32>, tensor<i32>) -> tensor<3x4xf32>
  %2 = relay.nn.dense %0, %1 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %y = relay.add %2, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
// CHECK:      %0 = relay.qnn.dense
// CHECK:      %[[SUMS:[0-9]+]] = relay.qnn.dequantize %0
// CHECK-NEXT: %y = relay.add %[[SUMS]], %b
