// RUN: opt-tool %s -p 'relay-conv2d-to-sparse{block-size=1,1 sparsity-threshold=0.5}' | filecheck %s

// CHECK:      %[[X:.*]] = relay.reshape %x {newshape = [6, 2]}
// CHECK:      relay.nn.sparse_dense %[[X]],
// CHECK-NEXT: %y = relay.reshape %{{.*}} {newshape = [1, 2, 3, 3]}
// CHECK-NEXT: %[[T:.*]] = relay.transpose %z {axes = [0, 2, 3, 1]}
// CHECK-NEXT: %[[R:.*]] = relay.reshape %[[T]] {newshape = [6, 2]}
// CHECK:      %[[S:.*]] = relay.nn.sparse_dense %[[R]],
// CHECK-NEXT: %[[B:.*]] = relay.reshape %[[S]] {newshape = [1, 2, 3, 3]}
// CHECK-NEXT: %a = relay.transpose %[[B]] {axes = [0, 3, 1, 2]}
func.func @main(%x: tensor<1x2x3x2xf32>, %z: tensor<1x2x2x3xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x3x2x3xf32>) {
  %w = relay.constant dense<[[[[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]]]> : tensor<1x1x2x3xf32>
  %y = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x2x3x2xf32>, tensor<1x1x2x3xf32>) -> tensor<1x2x3x3xf32>
  %v = relay.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[0.0]]], [[[0.0]], [[2.0]]]]> : tensor<3x2x1x1xf32>
  %a = relay.nn.conv2d %z, %v : (tensor<1x2x2x3xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x2x3xf32>
  return %y, %a : tensor<1x2x3x3xf32>, tensor<1x3x2x3xf32>
}
