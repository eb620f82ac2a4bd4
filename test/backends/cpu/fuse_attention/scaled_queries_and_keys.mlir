// RUN: opt-tool %s -p cpu-fuse-attention,relay-dead-code-elimination | filecheck %s
// Queries and keys are multiplied by numbers before their product (torch's scaled_dot_product_attention as exported).

// CHECK-LABEL: func.func @main(
// CHECK:         %[[SCALE:.*]] = relay.multiply %half, %quarter : tensor<f32>
// CHECK-NEXT:    %y = relay.nn.contrib_attention %query, %key, %value, %[[SCALE]], %mask {heads = 2}
// CHECK-NEXT:    func.return %y : tensor<1x3x8xf32>

func.func @main(%query: tensor<1x3x8xf32>, %key: tensor<1x5x8xf32>, %value: tensor<1x5x8xf32>,
                %mask: tensor<1x1x1x5xf32>) -> tensor<1x3x8xf32> {
  %half = relay.constant dense<0.5> : tensor<f32>
  %quarter = relay.constant dense<0.25> : tensor<f32>
  %0 = relay.reshape %query {newshape = [1, 3, 2, 4]} : (tensor<1x3x8xf32>) -> tensor<1x3x2x4xf32>
  %1 = relay.transpose %0 {axes = [0, 2, 1, 3]} : (tensor<1x3x2x4xf32>) -> tensor<1x2x3x4xf32>
  %qs = relay.multiply %1, %half : (tensor<1x2x3x4xf32>, tensor<f32>) -> tensor<1x2x3x4xf32>
  %q = relay.reshape %qs {newshape = [2, 3, 4]} : (tensor<1x2x3x4xf32>) -> tensor<2x3x4xf32>
  %2 = relay.reshape %key {newshape = [1, 5, 2, 4]} : (tensor<1x5x8xf32>) -> tensor<1x5x2x4xf32>
  %3 = relay.transpose %2 {axes = [0, 2, 3, 1]} : (tensor<1x5x2x4xf32>) -> tensor<1x2x4x5xf32>
  %ks = relay.multiply %3, %quarter : (tensor<1x2x4x5xf32>, tensor<f32>) -> tensor<1x2x4x5xf32>
  %k = relay.reshape %ks {newshape = [2, 4, 5]} : (tensor<1x2x4x5xf32>) -> tensor<2x4x5xf32>
  %4 = relay.reshape %value {newshape = [1, 5, 2, 4]} : (tensor<1x5x8xf32>) -> tensor<1x5x2x4xf32>
  %5 = relay.transpose %4 {axes = [0, 2, 1, 3]} : (tensor<1x5x2x4xf32>) -> tensor<1x2x5x4xf32>
  %v = relay.reshape %5 {newshape = [2, 5, 4]} : (tensor<1x2x5x4xf32>) -> tensor<2x5x4xf32>
  %6 = relay.nn.batch_matmul %q, %k {transpose_b = false} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %7 = relay.reshape %6 {newshape = [1, 2, 3, 5]} : (tensor<2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %9 = relay.add %7, %mask : (tensor<1x2x3x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x2x3x5xf32>
  %10 = relay.nn.softmax %9 {axis = 3} : tensor<1x2x3x5xf32>
  %p = relay.reshape %10 {newshape = [2, 3, 5]} : (tensor<1x2x3x5xf32>) -> tensor<2x3x5xf32>
  %11 = relay.nn.batch_matmul %p, %v {transpose_b = false} : (tensor<2x3x5xf32>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
  %12 = relay.reshape %11 {newshape = [1, 2, 3, 4]} : (tensor<2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %13 = relay.transpose %12 {axes = [0, 2, 1, 3]} : (tensor<1x2x3x4xf32>) -> tensor<1x3x2x4xf32>
  %y = relay.reshape %13 {newshape = [1, 3, 8]} : (tensor<1x3x2x4xf32>) -> tensor<1x3x8xf32>
  return %y : tensor<1x3x8xf32>
}
