// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s

// One anchor a group: the ReLU stays with the first convolution, the add goes with the second.
// CHECK-COUNT-2: relay.fn
// CHECK-NOT: relay.fn
func.func @main(%x: tensor<1x8x6x6xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32> {
  %a = relay.nn.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %r = relay.nn.relu %a : tensor<1x8x6x6xf32>
  %b = relay.nn.conv2d %r, %w : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %y = relay.add %b, %r : tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}
