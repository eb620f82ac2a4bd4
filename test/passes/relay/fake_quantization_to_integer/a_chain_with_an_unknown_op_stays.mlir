// RUN: opt-tool %s -p relay-fake-quantization-to-integer | filecheck %s
// RUN: not opt-tool %s -p 'relay-fake-quantization-to-integer{hard-fail=true}' 2>&1 | filecheck %s --check-prefix FAIL
// All of a chain or nothing: the sine has no form on integers, so the product before it stays, too.

func.func @main(%x: tensor<2x4xi8>, %w: tensor<3x4xi8>) -> tensor<2x3xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %xf = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %wf = relay.qnn.dequantize %w, %s, %z : (tensor<3x4xi8>, tensor<f32>, tensor<i32>) -> tensor<3x4xf32>
  %d = relay.nn.dense %xf, %wf : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %y = relay.sin %d : tensor<2x3xf32>
  %q = relay.qnn.quantize %y, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// CHECK:      %d = relay.nn.dense %xf, %wf
// CHECK-NEXT: %y = relay.sin %d
// CHECK-NEXT: %q = relay.qnn.quantize %y

// FAIL: mlir:11:8: error: sin has no form on quantised tensors here
