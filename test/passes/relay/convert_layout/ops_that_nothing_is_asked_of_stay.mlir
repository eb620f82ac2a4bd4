// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NHWC:default,nn.conv1d:NCW}' | filecheck %s
// The convolution along one axis has the layout that is asked for, and a pool alone is not asked.

// CHECK-NOT: relay.layout_transform
// CHECK:     func.return
func.func @main(%x: tensor<1x3x6xf32>, %w: tensor<8x3x3xf32>, %y: tensor<1x3x6x6xf32>)
    -> (tensor<1x8x4xf32>, tensor<1x3x3x3xf32>) {
  %c = relay.nn.conv1d %x, %w : (tensor<1x3x6xf32>, tensor<8x3x3xf32>) -> tensor<1x8x4xf32>
  %f = relay.nn.max_pool2d %y {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x3x6x6xf32>) -> tensor<1x3x3x3xf32>
  return %c, %f : tensor<1x8x4xf32>, tensor<1x3x3x3xf32>
}
