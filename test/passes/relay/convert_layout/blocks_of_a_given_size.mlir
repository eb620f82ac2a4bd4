// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NCHW4c:OIHW4i8o}' | filecheck %s

// CHECK: relay.nn.contrib_conv2d_NCHWc {{.*}} {channels = 8, data_layout = "NCHW4c", kernel_layout = "OIHW4i8o", out_layout = "NCHW4c"
func.func @main(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x4x1x1xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %c : tensor<1x8x6x6xf32>
}
