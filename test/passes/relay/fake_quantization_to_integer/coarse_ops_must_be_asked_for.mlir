// RUN: opt-tool %s -p relay-fake-quantization-to-integer | filecheck %s --check-prefix STAY
// RUN: opt-tool %s -p 'relay-fake-quantization-to-integer{optional-qnn-ops=nn.softmax}' | filecheck %s

func.func @main(%x: tensor<2x4xi8>) -> tensor<2x4xi8> {
  %s = relay.constant dense<0.0625> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %f = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %y = relay.nn.softmax %f : tensor<2x4xf32>
  %q = relay.qnn.quantize %y, %s, %z : (tensor<2x4xf32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi8>
  return %q : tensor<2x4xi8>
}

// STAY: %y = relay.nn.softmax %f

// CHECK-NOT:  dequantize
// CHECK:      %y = relay.qnn.softmax %x, %s, %z, %s, %z
// CHECK-NEXT: func.return %y
