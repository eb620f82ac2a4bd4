// RUN: opt-tool %s -p relay-fold-transpose,relay-dead-code-elimination | filecheck %s
// Keys of heads as a cache has them: the transpose stands before the reshape to one stack. Where the reshape takes the
// matrices apart, or the transpose moves heads, it stays.

// CHECK:      func.func @main
// CHECK-NEXT:   %[[K:.*]] = relay.reshape %k {newshape = [8, 9, 16]} : (tensor<2x4x9x16xf32>) -> tensor<8x9x16xf32>
// CHECK-NEXT:   %y = relay.nn.batch_matmul %q, %[[K]] :
// CHECK-NEXT:   relay.transpose %k {axes = [0, 1, 3, 2]}
// CHECK-NEXT:   relay.reshape
// CHECK-NEXT:   relay.nn.batch_matmul %a, %{{.*}} {transpose_b = false}
// CHECK-NEXT:   relay.transpose %k {axes = [1, 0, 3, 2]}
// CHECK-NEXT:   relay.reshape
// CHECK-NEXT:   relay.nn.batch_matmul %q, %{{.*}} {transpose_b = false}
func.func @main(%q: tensor<8x1x16xf32>, %k: tensor<2x4x9x16xf32>, %a: tensor<8x1x9xf32>)
    -> (tensor<8x1x9xf32>, tensor<8x1x16xf32>, tensor<8x1x9xf32>) {
  %t = relay.transpose %k {axes = [0, 1, 3, 2]} : (tensor<2x4x9x16xf32>) -> tensor<2x4x16x9xf32>
  %r = relay.reshape %t {newshape = [8, 16, 9]} : (tensor<2x4x16x9xf32>) -> tensor<8x16x9xf32>
  %y = relay.nn.batch_matmul %q, %r {transpose_b = false} : (tensor<8x1x16xf32>, tensor<8x16x9xf32>) -> tensor<8x1x9xf32>
  %t2 = relay.transpose %k {axes = [0, 1, 3, 2]} : (tensor<2x4x9x16xf32>) -> tensor<2x4x16x9xf32>
  %apart = relay.reshape %t2 {newshape = [8, 9, 16]} : (tensor<2x4x16x9xf32>) -> tensor<8x9x16xf32>
  %z = relay.nn.batch_matmul %a, %apart {transpose_b = false} : (tensor<8x1x9xf32>, tensor<8x9x16xf32>) -> tensor<8x1x16xf32>
  %t3 = relay.transpose %k {axes = [1, 0, 3, 2]} : (tensor<2x4x9x16xf32>) -> tensor<4x2x16x9xf32>
  %moved = relay.reshape %t3 {newshape = [8, 16, 9]} : (tensor<4x2x16x9xf32>) -> tensor<8x16x9xf32>
  %w = relay.nn.batch_matmul %q, %moved {transpose_b = false} : (tensor<8x1x16xf32>, tensor<8x16x9xf32>) -> tensor<8x1x9xf32>
  return %y, %z, %w : tensor<8x1x9xf32>, tensor<8x1x16xf32>, tensor<8x1x9xf32>
}
