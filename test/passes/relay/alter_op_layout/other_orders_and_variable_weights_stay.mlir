// RUN: opt-tool %s -p relay-alter-op-layout | filecheck %s

// CHECK-NOT: relay.layout_transform
// CHECK:     func.return
func.func @main(%x: tensor<1x16x6x6xf32>, %w: tensor<16x16x1x1xf32>) -> (tensor<1x16x6x6xf32>, tensor<1x16x6x8xf32>) {
  %c = relay.nn.conv2d %x, %w : (tensor<1x16x6x6xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x6x6xf32>
  %v = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<1x1x6x8xf32>
  %d = relay.nn.conv2d %x, %v {data_layout = "NHWC", kernel_layout = "HWIO"}
    : (tensor<1x16x6x6xf32>, tensor<1x1x6x8xf32>) -> tensor<1x16x6x8xf32>
  return %c, %d : tensor<1x16x6x6xf32>, tensor<1x16x6x8xf32>
}
