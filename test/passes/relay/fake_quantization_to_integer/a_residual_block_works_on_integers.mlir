// RUN: opt-tool %s -p 'relay-fake-quantization-to-integer{hard-fail=true},relay-dead-code-elimination' | filecheck %s
// relu is in the 32 bits of the product, the maximum of windows in its own type; the sum gets the scale at the end.

func.func @main(%x: tensor<1x2x4x4xi8>, %w: tensor<2x2x1x1xi8>) -> tensor<1x2x2x2xi8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %t = relay.constant dense<[0.25, 0.125]> : tensor<2xf32>
  %zero = relay.constant dense<0> : tensor<i32>
  %u = relay.constant dense<2.0> : tensor<f32>
  %xf = relay.qnn.dequantize %x, %s, %z : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xf32>
  %wf = relay.qnn.dequantize %w, %t, %zero {axis = 0} : (tensor<2x2x1x1xi8>, tensor<2xf32>, tensor<i32>) -> tensor<2x2x1x1xf32>
  %c = relay.nn.conv2d %xf, %wf : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = relay.nn.relu %c : tensor<1x2x4x4xf32>
  %a = relay.add %r, %xf : tensor<1x2x4x4xf32>
  %m = relay.nn.max_pool2d %a {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %q = relay.qnn.quantize %m, %u, %z : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x2x2xi8>
  return %q : tensor<1x2x2x2xi8>
}

// CHECK-NOT:  dequantize
// CHECK:      %c = relay.qnn.conv2d %x, %w, %z, %zero, %s, %t
// CHECK:      %r = relay.maximum %c, {{%[0-9]+}} : (tensor<1x2x4x4xi32>, tensor<i32>)
// CHECK:      [[ST:%[0-9]+]] = relay.constant dense<[1.250000e-01, 6.250000e-02]> : tensor<2xf32>
// CHECK:      [[R:%[0-9]+]] = relay.qnn.requantize %r, [[ST]], {{%[0-9]+}}, %u, %z {axis = 1}
// CHECK-NEXT: %a = relay.qnn.add [[R]], %x, %u, %z, %s, %z, %u, %z
// CHECK-NEXT: %m = relay.nn.max_pool2d %a {{.*}} : (tensor<1x2x4x4xi8>)
// CHECK-NEXT: func.return %m
