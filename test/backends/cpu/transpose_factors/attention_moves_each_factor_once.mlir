// RUN: opt-tool %s -p relay-fold-transpose,cpu-transpose-factors,relay-simplify-expr-post-alter-op,relay-dead-code-elimination | filecheck %s
// The values lie right already, however the product was written: only the keys and the weight are moved.

// CHECK:      %0 = relay.transpose %k {axes = [0, 2, 1]}
// CHECK-NEXT: %s = relay.nn.batch_matmul %q, %0 {transpose_b = false}
// CHECK-NEXT: %p = relay.nn.softmax %s
// CHECK-NEXT: %o = relay.nn.batch_matmul %p, %v {transpose_b = false}
// CHECK-NEXT: %f = relay.reshape %o
// CHECK-NEXT: %1 = relay.transpose %w {axes = [1, 0]}
// CHECK-NEXT: %y = relay.nn.matmul %f, %1
func.func @main(%q: tensor<4x24x32xf32>, %k: tensor<4x24x32xf32>, %v: tensor<4x24x32xf32>, %w: tensor<40x32xf32>) -> tensor<96x40xf32> {
  %kt = relay.transpose %k {axes = [0, 2, 1]} : (tensor<4x24x32xf32>) -> tensor<4x32x24xf32>
  %s = relay.nn.batch_matmul %q, %kt {transpose_b = false} : (tensor<4x24x32xf32>, tensor<4x32x24xf32>) -> tensor<4x24x24xf32>
  %p = relay.nn.softmax %s : tensor<4x24x24xf32>
  %vt = relay.transpose %v {axes = [0, 2, 1]} : (tensor<4x24x32xf32>) -> tensor<4x32x24xf32>
  %o = relay.nn.batch_matmul %p, %vt : (tensor<4x24x24xf32>, tensor<4x32x24xf32>) -> tensor<4x24x32xf32>
  %f = relay.reshape %o {newshape = [96, 32]} : (tensor<4x24x32xf32>) -> tensor<96x32xf32>
  %y = relay.nn.dense %f, %w : (tensor<96x32xf32>, tensor<40x32xf32>) -> tensor<96x40xf32>
  return %y : tensor<96x40xf32>
}
