// RUN: opt-tool %s -p cpu-fuse-attention,relay-dead-code-elimination --trace-rules 2>&1 | filecheck %s
// The queries of two images are those of one: attention keeps images apart. No rule even begins to fuse them.

// CHECK-NOT: {{contrib_attention|is not rewritten}}
// CHECK:     relay.nn.softmax
// CHECK-NOT: {{contrib_attention|is not rewritten}}
func.func @main(%query: tensor<2x3x8xf32>, %key: tensor<1x5x8xf32>, %value: tensor<1x5x8xf32>) -> tensor<1x6x8xf32> {
  %0 = relay.reshape %query {newshape = [1, 6, 2, 4]} : (tensor<2x3x8xf32>) -> tensor<1x6x2x4xf32>
  %1 = relay.transpose %0 {axes = [0, 2, 1, 3]} : (tensor<1x6x2x4xf32>) -> tensor<1x2x6x4xf32>
  %q = relay.reshape %1 {newshape = [2, 6, 4]} : (tensor<1x2x6x4xf32>) -> tensor<2x6x4xf32>
  %2 = relay.reshape %key {newshape = [1, 5, 2, 4]} : (tensor<1x5x8xf32>) -> tensor<1x5x2x4xf32>
  %3 = relay.transpose %2 {axes = [0, 2, 3, 1]} : (tensor<1x5x2x4xf32>) -> tensor<1x2x4x5xf32>
  %k = relay.reshape %3 {newshape = [2, 4, 5]} : (tensor<1x2x4x5xf32>) -> tensor<2x4x5xf32>
  %4 = relay.reshape %value {newshape = [1, 5, 2, 4]} : (tensor<1x5x8xf32>) -> tensor<1x5x2x4xf32>
  %5 = relay.transpose %4 {axes = [0, 2, 1, 3]} : (tensor<1x5x2x4xf32>) -> tensor<1x2x5x4xf32>
  %v = relay.reshape %5 {newshape = [2, 5, 4]} : (tensor<1x2x5x4xf32>) -> tensor<2x5x4xf32>
  %6 = relay.nn.batch_matmul %q, %k {transpose_b = false} : (tensor<2x6x4xf32>, tensor<2x4x5xf32>) -> tensor<2x6x5xf32>
  %7 = relay.reshape %6 {newshape = [1, 2, 6, 5]} : (tensor<2x6x5xf32>) -> tensor<1x2x6x5xf32>
  %8 = relay.nn.softmax %7 {axis = 3} : tensor<1x2x6x5xf32>
  %p = relay.reshape %8 {newshape = [2, 6, 5]} : (tensor<1x2x6x5xf32>) -> tensor<2x6x5xf32>
  %9 = relay.nn.batch_matmul %p, %v {transpose_b = false} : (tensor<2x6x5xf32>, tensor<2x5x4xf32>) -> tensor<2x6x4xf32>
  %10 = relay.reshape %9 {newshape = [1, 2, 6, 4]} : (tensor<2x6x4xf32>) -> tensor<1x2x6x4xf32>
  %11 = relay.transpose %10 {axes = [0, 2, 1, 3]} : (tensor<1x2x6x4xf32>) -> tensor<1x6x2x4xf32>
  %y = relay.reshape %11 {newshape = [1, 6, 8]} : (tensor<1x6x2x4xf32>) -> tensor<1x6x8xf32>
  return %y : tensor<1x6x8xf32>
}
