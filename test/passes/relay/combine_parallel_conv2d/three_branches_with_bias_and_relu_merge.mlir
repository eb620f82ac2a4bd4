// RUN: opt-tool %s -p relay-combine-parallel-conv2d | filecheck %s
// The bias, a factor a channel and the relu come along; the last op is another in the third branch.

// CHECK:      func.func @main
// CHECK-NEXT:   %a = relay.constant
// CHECK-NEXT:   %b = relay.constant
// CHECK-NEXT:   %c = relay.constant
// CHECK-NEXT:   [[W:%.*]] = relay.concatenate %a, %b, %c : {{.*}} -> tensor<7x8x1x1xf32>
// CHECK-NEXT:   [[Y:%.*]] = relay.nn.conv2d %x, [[W]] : {{.*}} -> tensor<1x7x6x6xf32>
// CHECK-NEXT:   [[B:%.*]] = relay.concatenate %p, %q, %p
// CHECK-NEXT:   [[Z:%.*]] = relay.nn.bias_add [[Y]], [[B]]
// CHECK-NEXT:   [[R:%.*]] = relay.nn.relu [[Z]]
// CHECK-NEXT:   %a2 = relay.strided_slice [[R]] {axes = [1], begin = [0], end = [2], strides = [1]}
// CHECK-NEXT:   %b2 = relay.strided_slice [[R]] {axes = [1], begin = [2], end = [5], strides = [1]}
// CHECK-NEXT:   %c2 = relay.strided_slice [[R]] {axes = [1], begin = [5], end = [7], strides = [1]}
// CHECK-NEXT:   %a3 = relay.exp %a2
// CHECK-NEXT:   %b3 = relay.exp %b2
// CHECK-NEXT:   func.return %a3, %b3, %c2
func.func @main(%x: tensor<1x8x6x6xf32>, %p: tensor<2xf32>, %q: tensor<3xf32>)
    -> (tensor<1x2x6x6xf32>, tensor<1x3x6x6xf32>, tensor<1x2x6x6xf32>) {
  %a = relay.constant #relay.param<"a", "0000000000000001"> : tensor<2x8x1x1xf32>
  %a0 = relay.nn.conv2d %x, %a : (tensor<1x8x6x6xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x6x6xf32>
  %a1 = relay.nn.bias_add %a0, %p : (tensor<1x2x6x6xf32>, tensor<2xf32>) -> tensor<1x2x6x6xf32>
  %a2 = relay.nn.relu %a1 : tensor<1x2x6x6xf32>
  %a3 = relay.exp %a2 : tensor<1x2x6x6xf32>
  %b = relay.constant #relay.param<"b", "0000000000000002"> : tensor<3x8x1x1xf32>
  %b0 = relay.nn.conv2d %x, %b : (tensor<1x8x6x6xf32>, tensor<3x8x1x1xf32>) -> tensor<1x3x6x6xf32>
  %b1 = relay.nn.bias_add %b0, %q : (tensor<1x3x6x6xf32>, tensor<3xf32>) -> tensor<1x3x6x6xf32>
  %b2 = relay.nn.relu %b1 : tensor<1x3x6x6xf32>
  %b3 = relay.exp %b2 : tensor<1x3x6x6xf32>
  %c = relay.constant #relay.param<"c", "0000000000000003"> : tensor<2x8x1x1xf32>
  %c0 = relay.nn.conv2d %x, %c : (tensor<1x8x6x6xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x6x6xf32>
  %c1 = relay.nn.bias_add %c0, %p : (tensor<1x2x6x6xf32>, tensor<2xf32>) -> tensor<1x2x6x6xf32>
  %c2 = relay.nn.relu %c1 : tensor<1x2x6x6xf32>
  return %a3, %b3, %c2 : tensor<1x2x6x6xf32>, tensor<1x3x6x6xf32>, tensor<1x2x6x6xf32>
}
