// RUN: opt-tool %s -p relay-quantized-products | filecheck %s
// A step of the sums is 0.25, a step of the result 2: a bias of 0.7 is 0.35 steps of the result, not 0.375.

func.func @main(%x: tensor<1x2x4x4xui8>) -> tensor<1x3x4x4xui8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %t = relay.constant dense<0.5> : tensor<f32>
  %zero = relay.constant dense<0> : tensor<i32>
  %q = relay.constant dense<3> : tensor<3x2x1x1xi8>
  %b = relay.constant dense<[0.7, 1.0, -2.0]> : tensor<3xf32>
  %u = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xf32>
  %1 = relay.qnn.dequantize %q, %t, %zero : (tensor<3x2x1x1xi8>, tensor<f32>, tensor<i32>) -> tensor<3x2x1x1xf32>
  %2 = relay.nn.conv2d %0, %1 : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  %3 = relay.nn.bias_add %2, %b : (tensor<1x3x4x4xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  %4 = relay.nn.relu %3 : tensor<1x3x4x4xf32>
  %5 = relay.qnn.quantize %4, %u, %zero {out_dtype = "uint8", rounding = "TONEVEN"} : (tensor<1x3x4x4xf32>, tensor<f32>, tensor<i32>) -> tensor<1x3x4x4xui8>
  return %5 : tensor<1x3x4x4xui8>
}
// CHECK-NOT:  dequantize
// CHECK:      %0 = relay.qnn.conv2d %x, %q, %z, %zero, %s, %t
// CHECK-NEXT: %1 = relay.constant dense<1.250000e-01>
// CHECK-NEXT: %2 = relay.cast %0 {dtype = "float32"}
// CHECK-NEXT: %3 = relay.multiply %2, %1
// CHECK-NEXT: %4 = relay.constant dense<{{.*}}3.500000e-01{{.*}}5.000000e-01{{.*}}-1.000000e+00{{.*}}tensor<3x1x1xf32>
// CHECK-NEXT: %5 = relay.add %3, %4
// CHECK-NEXT: %6 = relay.round %5
