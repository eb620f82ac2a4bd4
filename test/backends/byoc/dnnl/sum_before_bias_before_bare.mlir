// RUN: opt-tool %s -p 'relay-merge-composite{patterns=dnnl}' | filecheck %s
// Order is priority: the sum with relu is one composite. Behind it an add of another shape than the output is no sum.

// CHECK:      Composite = "dnnl.conv2d_bias_sum_relu", PartitionedFromPattern = "nn.conv2d_add_add_nn.relu_"
// CHECK:      Composite = "dnnl.conv2d_bias", PartitionedFromPattern = "nn.conv2d_add_"
// CHECK-NOT:  Composite
// CHECK:      relay.add {{.*}}, %row
func.func @main(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %b: tensor<4x1x1xf32>, %row: tensor<8xf32>) -> tensor<1x4x8x8xf32> {
  %c = relay.nn.conv2d %x, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %d = relay.add %c, %b : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %e = relay.add %x, %d : tensor<1x4x8x8xf32>
  %r = relay.nn.relu %e : tensor<1x4x8x8xf32>
  %c2 = relay.nn.conv2d %r, %w : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %d2 = relay.add %c2, %b : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %e2 = relay.add %d2, %row : (tensor<1x4x8x8xf32>, tensor<8xf32>) -> tensor<1x4x8x8xf32>
  return %e2 : tensor<1x4x8x8xf32>
}
