// RUN: opt-tool %s -p relay-convert-layout | filecheck %s

// CHECK:      relay.constant #relay.param<"w0/layout_transform", "{{[0-9a-f]+}}"> : tensor<1x3x3x3x32xf32>
// CHECK-NEXT: relay.nn.contrib_conv2d_NCHWc %x, {{.*}} data_layout = "NCHW", kernel_layout = "OIHW32o"
// CHECK:      relay.nn.relu {{.*}} : tensor<1x2x8x8x16xf32>
// An odd number of blocks of output channels is computed one block at a time. 24 channels are read as three halves.
// CHECK:      relay.constant #relay.param<"w1/layout_transform", "{{[0-9a-f]+}}"> : tensor<1x3x1x1x8x16xf32>
// CHECK:      relay.nn.contrib_conv2d_NCHWc {{.*}} kernel_layout = "OIHW8i16o"
// CHECK:      relay.nn.contrib_depthwise_conv2d_NCHWc
// CHECK-NEXT: relay.concatenate {{.*}} -> tensor<1x3x8x8x16xf32>
// CHECK-NEXT: relay.nn.global_avg_pool2d {{.*}} {layout = "NCHW16c"}
// The 40 channels end in the middle of a block.
// CHECK-NEXT: relay.layout_transform {{.*}} {channels = 40, dst_layout = "NCHW", src_layout = "NCHW16c"}
// CHECK-NOT:  relay.layout_transform
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x40xf32> {
  %w0 = relay.constant #relay.param<"w0", "0123456789abcde0"> : tensor<24x3x3x3xf32>
  %w1 = relay.constant #relay.param<"w1", "0123456789abcde1"> : tensor<16x24x1x1xf32>
  %w2 = relay.constant #relay.param<"w2", "0123456789abcde2"> : tensor<24x1x3x3xf32>
  %0 = relay.nn.conv2d %x, %w0 {padding = [1, 1]} : (tensor<1x3x8x8xf32>, tensor<24x3x3x3xf32>) -> tensor<1x24x8x8xf32>
  %1 = relay.nn.relu %0 : tensor<1x24x8x8xf32>
  %2 = relay.nn.conv2d %1, %w1 : (tensor<1x24x8x8xf32>, tensor<16x24x1x1xf32>) -> tensor<1x16x8x8xf32>
  %3 = relay.nn.conv2d %1, %w2 {padding = [1, 1], groups = 24}
    : (tensor<1x24x8x8xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x8x8xf32>
  %4 = relay.concatenate %2, %3 {axis = 1} : (tensor<1x16x8x8xf32>, tensor<1x24x8x8xf32>) -> tensor<1x40x8x8xf32>
  %5 = relay.nn.global_avg_pool2d %4 : (tensor<1x40x8x8xf32>) -> tensor<1x40x1x1xf32>
  %6 = relay.nn.batch_flatten %5 : (tensor<1x40x1x1xf32>) -> tensor<1x40xf32>
  return %6 : tensor<1x40xf32>
}
