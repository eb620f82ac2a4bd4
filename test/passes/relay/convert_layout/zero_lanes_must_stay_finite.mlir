// log(0) in the lanes that pad 24 channels to 32 would spoil the next convolution: back to NCHW for it.
// RUN: opt-tool %s -p relay-convert-layout | filecheck %s

// CHECK: relay.layout_transform {{.*}} {channels = 24, dst_layout = "NCHW", src_layout = "NCHW16c"}
// CHECK: relay.log {{.*}} : tensor<1x24x8x8xf32>
func.func @main(%x: tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<24x24x1x1xf32>
  %0 = relay.nn.conv2d %x, %w : (tensor<1x24x8x8xf32>, tensor<24x24x1x1xf32>) -> tensor<1x24x8x8xf32>
  %1 = relay.log %0 : tensor<1x24x8x8xf32>
  return %1 : tensor<1x24x8x8xf32>
}
