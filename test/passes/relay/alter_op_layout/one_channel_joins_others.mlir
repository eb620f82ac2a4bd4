// RUN: opt-tool %s -p 'relay-alter-op-layout{block=8}' | filecheck %s
// One channel is one number for all lanes where it broadcasts; among the pieces of a concatenation it is a lane of a
// block of its own. What a convolution sums up beyond it are zeros: those that fill up the block are.

// CHECK:      [[ONE:%.*]] = relay.reshape %z {{.*}} -> tensor<1x1x6x6x1xf32>
// CHECK-NEXT: %s = relay.multiply %c, [[ONE]]
// CHECK-NEXT: [[LANE:%.*]] = relay.layout_transform %z {dst_layout = "NCHW8c", src_layout = "NCHW"} {{.*}} -> tensor<1x1x6x6x8xf32>
// CHECK-NEXT: %j = relay.concatenate %s, [[LANE]] {axis = 1} : {{.*}} -> tensor<1x3x6x6x8xf32>
// CHECK-NOT:  relay.where
// CHECK:      relay.nn.contrib_conv2d_NCHWc %j
func.func @main(%x: tensor<1x8x6x6xf32>, %z: tensor<1x1x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<16x8x1x1xf32>
  %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<8x17x1x1xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x6x6xf32>
  %s = relay.multiply %c, %z : (tensor<1x16x6x6xf32>, tensor<1x1x6x6xf32>) -> tensor<1x16x6x6xf32>
  %j = relay.concatenate %s, %z {axis = 1} : (tensor<1x16x6x6xf32>, tensor<1x1x6x6xf32>) -> tensor<1x17x6x6xf32>
  %y = relay.nn.conv2d %j, %v : (tensor<1x17x6x6xf32>, tensor<8x17x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}
