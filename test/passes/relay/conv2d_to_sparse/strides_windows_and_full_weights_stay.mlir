// RUN: opt-tool %s -p 'relay-conv2d-to-sparse{block-size=1,1 sparsity-threshold=0.6}' | filecheck %s

// CHECK-NOT: relay.nn.sparse_dense
// CHECK:     %a = relay.nn.conv2d %z, %v
// CHECK-NOT: relay.nn.sparse_dense
// CHECK:     %b = relay.nn.conv2d %z, %w
// CHECK-NOT: relay.nn.sparse_dense
// CHECK:     %c = relay.nn.conv2d %z, %u
// CHECK-NEXT: func.return %a, %b, %c
func.func @main(%z: tensor<1x2x2x3xf32>) -> (tensor<1x3x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x2x3xf32>) {
  %v = relay.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[0.0]]], [[[0.0]], [[2.0]]]]> : tensor<3x2x1x1xf32>
  %a = relay.nn.conv2d %z, %v {strides = [2, 2]} : (tensor<1x2x2x3xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x1x2xf32>
  %w = relay.constant dense<[[[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]]> : tensor<1x2x2x2xf32>
  %b = relay.nn.conv2d %z, %w : (tensor<1x2x2x3xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x1x2xf32>
  %u = relay.constant dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>
  %c = relay.nn.conv2d %z, %u : (tensor<1x2x2x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x2x3xf32>
  return %a, %b, %c : tensor<1x3x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x2x3xf32>
}
