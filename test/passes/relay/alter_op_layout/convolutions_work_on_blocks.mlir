// RUN: opt-tool %s -p 'relay-alter-op-layout{block=8}' | filecheck %s

// CHECK:      [[X:%.*]] = relay.layout_transform %x {dst_layout = "NCHW8c", src_layout = "NCHW"}
// CHECK:      %c = relay.nn.contrib_conv2d_NCHWc [[X]], {{.*}} kernel_layout = "OIHW8i16o"
// CHECK-NEXT: %y = relay.nn.relu %c : tensor<1x2x6x6x8xf32>
// CHECK-NEXT: relay.layout_transform %y {dst_layout = "NCHW", src_layout = "NCHW8c"}
func.func @main(%x: tensor<1x8x6x6xf32>) -> tensor<1x16x6x6xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<16x8x1x1xf32>
  %c = relay.nn.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x6x6xf32>
  %y = relay.nn.relu %c : tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}
