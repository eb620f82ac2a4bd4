// RUN: opt-tool %s -p relay-convert-layout | filecheck %s

// CHECK:     relay.nn.conv2d %x, %w {groups = 2}
// CHECK-NOT: relay.layout_transform
func.func @main(%x: tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<24x12x1x1xf32>
  %0 = relay.nn.conv2d %x, %w {groups = 2} : (tensor<1x24x8x8xf32>, tensor<24x12x1x1xf32>) -> tensor<1x24x8x8xf32>
  return %0 : tensor<1x24x8x8xf32>
}
