// RUN: opt-tool %s -p cpu-fuse-attention,relay-dead-code-elimination | filecheck %s
// What was taken apart by windows is put together in another way: the softmax is over other rows.

// CHECK-NOT: contrib_attention
// CHECK:     relay.nn.batch_matmul %q, %k
// CHECK:     relay.nn.softmax
// CHECK:     relay.nn.batch_matmul %p, %v
// CHECK-NOT: contrib_attention
func.func @main(%query: tensor<4x3x8xf32>, %key: tensor<4x4x8xf32>, %value: tensor<4x4x8xf32>,
                %bias: tensor<1x2x3x4xf32>, %mask: tensor<1x2x1x3x4xf32>) -> tensor<4x3x8xf32> {
  %half = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.reshape %query {newshape = [4, 3, 2, 4]} : (tensor<4x3x8xf32>) -> tensor<4x3x2x4xf32>
  %1 = relay.transpose %0 {axes = [0, 2, 1, 3]} : (tensor<4x3x2x4xf32>) -> tensor<4x2x3x4xf32>
  %2 = relay.multiply %1, %half : (tensor<4x2x3x4xf32>, tensor<f32>) -> tensor<4x2x3x4xf32>
  %q = relay.reshape %2 {newshape = [8, 3, 4]} : (tensor<4x2x3x4xf32>) -> tensor<8x3x4xf32>
  %3 = relay.reshape %key {newshape = [4, 4, 2, 4]} : (tensor<4x4x8xf32>) -> tensor<4x4x2x4xf32>
  %4 = relay.transpose %3 {axes = [0, 2, 3, 1]} : (tensor<4x4x2x4xf32>) -> tensor<4x2x4x4xf32>
  %k = relay.reshape %4 {newshape = [8, 4, 4]} : (tensor<4x2x4x4xf32>) -> tensor<8x4x4xf32>
  %5 = relay.reshape %value {newshape = [4, 4, 2, 4]} : (tensor<4x4x8xf32>) -> tensor<4x4x2x4xf32>
  %6 = relay.transpose %5 {axes = [0, 2, 1, 3]} : (tensor<4x4x2x4xf32>) -> tensor<4x2x4x4xf32>
  %v = relay.reshape %6 {newshape = [8, 4, 4]} : (tensor<4x2x4x4xf32>) -> tensor<8x4x4xf32>
  %7 = relay.nn.batch_matmul %q, %k {transpose_b = false} : (tensor<8x3x4xf32>, tensor<8x4x4xf32>) -> tensor<8x3x4xf32>
  %8 = relay.reshape %7 {newshape = [4, 2, 3, 4]} : (tensor<8x3x4xf32>) -> tensor<4x2x3x4xf32>
  %9 = relay.add %8, %bias : (tensor<4x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<4x2x3x4xf32>
  %10 = relay.reshape %9 {newshape = [2, 2, 2, 3, 4]} : (tensor<4x2x3x4xf32>) -> tensor<2x2x2x3x4xf32>
  %11 = relay.add %10, %mask : (tensor<2x2x2x3x4xf32>, tensor<1x2x1x3x4xf32>) -> tensor<2x2x2x3x4xf32>
  %12 = relay.reshape %11 {newshape = [4, 2, 6, 2]} : (tensor<2x2x2x3x4xf32>) -> tensor<4x2x6x2xf32>
  %13 = relay.nn.softmax %12 {axis = 3} : tensor<4x2x6x2xf32>
  %p = relay.reshape %13 {newshape = [8, 3, 4]} : (tensor<4x2x6x2xf32>) -> tensor<8x3x4xf32>
  %14 = relay.nn.batch_matmul %p, %v {transpose_b = false} : (tensor<8x3x4xf32>, tensor<8x4x4xf32>) -> tensor<8x3x4xf32>
  %15 = relay.reshape %14 {newshape = [4, 2, 3, 4]} : (tensor<8x3x4xf32>) -> tensor<4x2x3x4xf32>
  %16 = relay.transpose %15 {axes = [0, 2, 1, 3]} : (tensor<4x2x3x4xf32>) -> tensor<4x3x2x4xf32>
  %y = relay.reshape %16 {newshape = [4, 3, 8]} : (tensor<4x3x2x4xf32>) -> tensor<4x3x8xf32>
  return %y : tensor<4x3x8xf32>
}
