// RUN: opt-tool %s -p relay-fake-quantization-to-integer | filecheck %s
// The quantised functions give numbers of one scale: where the result has one for each channel, floats are left.

// CHECK:      %0 = relay.qnn.dequantize %x
// CHECK-NEXT: %1 = relay.tanh %0
// CHECK:      %a = relay.qnn.quantize %1, %v, %z {axis = 1}
// CHECK-NEXT: %b = relay.qnn.tanh %x
func.func @main(%x: tensor<1x2x4x4xi8>) -> (tensor<1x2x4x4xi8>, tensor<1x2x4x4xi8>) {
  %s = relay.constant dense<0.5> : tensor<f32>
  %v = relay.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %z = relay.constant dense<0> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xf32>
  %1 = relay.tanh %0 : tensor<1x2x4x4xf32>
  %a = relay.qnn.quantize %1, %v, %z {out_dtype = "int8", axis = 1} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<1x2x4x4xi8>
  %2 = relay.qnn.dequantize %x, %s, %z : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xf32>
  %3 = relay.tanh %2 : tensor<1x2x4x4xf32>
  %b = relay.qnn.quantize %3, %s, %z {out_dtype = "int8"} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xi8>
  return %a, %b : tensor<1x2x4x4xi8>, tensor<1x2x4x4xi8>
}
