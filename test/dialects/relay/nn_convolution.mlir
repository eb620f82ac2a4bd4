// RUN: opt-tool %s --verify-roundtrip | filecheck %s

func.func @convolution(%x: tensor<1x32x8x8xf32>, %w: tensor<64x16x3x3xf32>, %b: tensor<64xf32>,
                       %xb: tensor<1x2x8x8x16xf32>, %wb: tensor<2x2x3x3x16x32xf32>, %wd: tensor<2x1x3x3x1x16xf32>) {
  // CHECK: relay.nn.conv2d %x, %w {groups = 2, padding = [1, 1, 1, 1]} : (tensor<1x32x8x8xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x8x8xf32>
  %0 = relay.nn.conv2d %x, %w {groups = 2, padding = [1, 1, 1, 1], strides = [1, 1]} : (tensor<1x32x8x8xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x8x8xf32>
  // CHECK: relay.nn.bias_add %{{.*}}, %b : (tensor<1x64x8x8xf32>, tensor<64xf32>) -> tensor<1x64x8x8xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<1x64x8x8xf32>, tensor<64xf32>) -> tensor<1x64x8x8xf32>
  // The last block of 16 output channels is padded: 40 channels take three blocks.
  // CHECK: relay.nn.contrib_conv2d_NCHWc %xb, %wb {channels = 40, strides = [2, 2]} : (tensor<1x2x8x8x16xf32>, tensor<2x2x3x3x16x32xf32>) -> tensor<1x3x3x3x16xf32>
  %2 = relay.nn.contrib_conv2d_NCHWc %xb, %wb {channels = 40, strides = [2, 2]} : (tensor<1x2x8x8x16xf32>, tensor<2x2x3x3x16x32xf32>) -> tensor<1x3x3x3x16xf32>
  // CHECK: relay.nn.contrib_depthwise_conv2d_NCHWc %xb, %wd {channels = 32} : (tensor<1x2x8x8x16xf32>, tensor<2x1x3x3x1x16xf32>) -> tensor<1x2x6x6x16xf32>
  %3 = relay.nn.contrib_depthwise_conv2d_NCHWc %xb, %wd {channels = 32} : (tensor<1x2x8x8x16xf32>, tensor<2x1x3x3x1x16xf32>) -> tensor<1x2x6x6x16xf32>
  func.return
}
