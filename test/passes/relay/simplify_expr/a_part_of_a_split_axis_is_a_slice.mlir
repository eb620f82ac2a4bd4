// RUN: opt-tool %s -p relay-simplify-expr,relay-dead-code-elimination | filecheck %s
// Queries, keys and values of one product: two of three parts of its last axis.

// CHECK-LABEL: func.func @two_of_three(
// CHECK-NEXT:    %[[FIRST:.*]] = relay.strided_slice %x {axes = [2], begin = [0], end = [4], strides = [1]} : (tensor<2x5x12xf32>) -> tensor<2x5x4xf32>
// CHECK-NEXT:    %[[HEADS:.*]] = relay.reshape %[[FIRST]] {allowzero = true, newshape = [2, 5, 2, 2]
// CHECK-NEXT:    %q = relay.transpose %[[HEADS]] {axes = [0, 2, 1, 3]} : (tensor<2x5x2x2xf32>) -> tensor<2x2x5x2xf32>
// CHECK-NEXT:    %[[SECOND:.*]] = relay.strided_slice %x {axes = [2], begin = [4], end = [8], strides = [1]} : (tensor<2x5x12xf32>) -> tensor<2x5x4xf32>
// CHECK-NEXT:    %[[HEADS:.*]] = relay.reshape %[[SECOND]] {allowzero = true, newshape = [2, 5, 2, 2]
// CHECK-NEXT:    %k = relay.transpose %[[HEADS]] {axes = [0, 2, 1, 3]} : (tensor<2x5x2x2xf32>) -> tensor<2x2x5x2xf32>
// CHECK-NEXT:    func.return %q, %k
func.func @two_of_three(%x: tensor<2x5x12xf32>) -> (tensor<2x2x5x2xf32>, tensor<2x2x5x2xf32>) {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %0 = relay.reshape %x {newshape = [2, 5, 3, 2, 2]} : (tensor<2x5x12xf32>) -> tensor<2x5x3x2x2xf32>
  %1 = relay.transpose %0 {axes = [2, 0, 3, 1, 4]} : (tensor<2x5x3x2x2xf32>) -> tensor<3x2x2x5x2xf32>
  %q = relay.take %1, %zero {axis = 0} : (tensor<3x2x2x5x2xf32>, tensor<i64>) -> tensor<2x2x5x2xf32>
  %k = relay.take %1, %one {axis = 0} : (tensor<3x2x2x5x2xf32>, tensor<i64>) -> tensor<2x2x5x2xf32>
  return %q, %k : tensor<2x2x5x2xf32>, tensor<2x2x5x2xf32>
}
