// RUN: opt-tool %s -p relay-first-order-gradient | filecheck %s
// The results are followed by a gradient for each parameter; a bias that was broadcast gets the sum.

// CHECK:      func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) {
// CHECK-NEXT:   %0 = relay.nn.dense %x, %w
// CHECK-NEXT:   %1 = relay.add %0, %b
// CHECK-NEXT:   %2 = relay.tanh %1
// CHECK-NEXT:   %3 = relay.ones_like %2
// CHECK-NEXT:   %4 = relay.multiply %2, %2
// CHECK-NEXT:   %5 = relay.constant dense<1.000000e+00>
// CHECK-NEXT:   %6 = relay.subtract %5, %4
// CHECK-NEXT:   %7 = relay.multiply %3, %6
// CHECK-NEXT:   %grad_b = relay.collapse_sum_to %7 {shape = [4]}
// CHECK-NEXT:   %grad_w = relay.nn.matmul %7, %x {transpose_a = true}
// CHECK-NEXT:   %8 = relay.transpose %w
// CHECK-NEXT:   %grad_x = relay.nn.dense %7, %8
// CHECK-NEXT:   func.return %2, %grad_x, %grad_w, %grad_b
func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %1 = relay.add %0, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %2 = relay.tanh %1 : tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
