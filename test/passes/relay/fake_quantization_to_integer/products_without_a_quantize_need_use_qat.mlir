// RUN: opt-tool %s -p relay-fake-quantization-to-integer | filecheck %s --check-prefix STAY
// RUN: opt-tool %s -p 'relay-fake-quantization-to-integer{use-qat=true}' | filecheck %s

func.func @main(%x: tensor<2x4xi8>, %w: tensor<3x4xi8>) -> tensor<2x3xf32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %xf = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %wf = relay.qnn.dequantize %w, %s, %z : (tensor<3x4xi8>, tensor<f32>, tensor<i32>) -> tensor<3x4xf32>
  %d = relay.nn.dense %xf, %wf : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %r = relay.nn.relu %d : tensor<2x3xf32>
  %y = relay.sin %r : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// STAY: %d = relay.nn.dense %xf, %wf

// CHECK-NOT:  relay.nn.dense
// CHECK:      [[D:%[a-z]+]] = relay.qnn.dense %x, %w, %z, %z, %s, %s : {{.*}} -> tensor<2x3xi32>
// CHECK:      [[R:%[a-z]+]] = relay.maximum [[D]],
// CHECK:      [[F:%[a-z0-9_]+]] = relay.qnn.dequantize [[R]],
// CHECK-NEXT: %y = relay.sin [[F]]
