// Phase 1 fuses the tuple into the concatenation, phase 2 the reshapes into the tuple; a convolution stays apart.
// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s

// CHECK:     %fused_nn_conv2d = relay.fn
// CHECK:     %fused_nn_relu_transpose_concatenate = relay.fn
// CHECK-NOT: relay.fn
func.func @main(%x: tensor<1x8x6x6xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x24x6x6xf32> {
  %c = relay.nn.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %r = relay.nn.relu %x : tensor<1x8x6x6xf32>
  %t = relay.transpose %x {axes = [0, 1, 3, 2]} : tensor<1x8x6x6xf32>
  %y = relay.concatenate %c, %r, %t {axis = 1}
    : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x24x6x6xf32>
  return %y : tensor<1x24x6x6xf32>
}
